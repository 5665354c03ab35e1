import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client.js";
import { sourcesQuery } from "../../api/queries.js";
import type { SourceReconnected } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useNow } from "../../lib/now.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Code, CopyButton, Cut, Glyph } from "../../ui/bits.js";
import { Button, IconButton } from "../../ui/button.js";
import { Link } from "../../ui/link.js";
import { Modal } from "../../ui/modal.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status } from "../../ui/status.js";
import { DriftOf } from "./drift.js";
import { LogIn } from "./log-in.js";
import { messageOf, rowsOf, type SourceRow } from "./rows.js";
import "./sources.css";

export default function SourcesPage() {
  const { query } = usePlace();
  const [isAdding, setAdding] = useState(false);
  const sources = useQuery(sourcesQuery);
  const rows = sources.data === undefined ? [] : rowsOf(sources.data);
  const tools = rows.reduce((sum, { status }) => sum + status.tools.length, 0);
  const needYou = rows.filter((row) => row.needsYou).length;
  const open = (row: SourceRow) =>
    setQuery({
      open: query.open === row.id || (query.open === undefined && row.drift.length > 0) ? "none" : row.id,
    });
  const isOpen = (row: SourceRow) =>
    query.open === row.id || (query.open === undefined && row.drift.length > 0);
  const move = (step: number) => {
    const at = rows.findIndex(({ id }) => id === query.open);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
    if (next !== undefined) setQuery({ open: next.id });
  };
  useKeys({ j: () => move(1), k: () => move(-1), Escape: () => setQuery({ open: undefined }) });
  const groups = [
    {
      title: "MCP servers",
      about: "Programs and addresses that speak the Model Context Protocol",
      rows: rows.filter(({ kind }) => kind === "mcp"),
    },
    {
      title: "Plugins and files",
      about: "Read again when they change",
      rows: rows.filter(({ kind }) => kind !== "mcp"),
    },
  ].filter((group) => group.rows.length > 0);
  return (
    <PageFrame
      title="Sources"
      state={stateOf(sources, rows.length === 0)}
      fact={
        sources.data === undefined ? undefined : (
          <>
            {plural(rows.length, "source")} {rows.length === 1 ? "brings" : "bring"} {plural(tools, "tool")}
            {needYou > 0 && <span className="opt">· {needYou} need you</span>}
          </>
        )
      }
      controls={
        <Button look="ink" icon="plus" onClick={() => setAdding(true)}>
          Add source
        </Button>
      }
    >
      {sources.data === undefined ? (
        sources.isError ? (
          <ErrorState
            title="The sources could not be read"
            error={sources.error}
            stillWorks="Tools that are there still work."
            onRetry={() => void sources.refetch()}
            busy={sources.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : rows.length === 0 ? (
        <Empty icon="sources" title="No tools from outside yet" command="hermes mcp add NAME -- COMMAND">
          MCP servers, plugins and YAML files bring tools of their own. They show up here with how they are
          doing.
        </Empty>
      ) : (
        <div className="scroll" role="group" aria-label="Sources" tabIndex={0}>
          {groups.map((group) => (
            <section key={group.title} aria-label={group.title}>
              <div className="group">
                <h2>{group.title}</h2>
                <p>{group.about}</p>
              </div>
              <div className="sheet">
                {group.rows.map((row) => (
                  <Source key={row.id} row={row} isOpen={isOpen(row)} onOpen={() => open(row)} />
                ))}
              </div>
            </section>
          ))}
        </div>
      )}
      {isAdding && <Adding onClose={() => setAdding(false)} />}
    </PageFrame>
  );
}

function Source(props: { readonly row: SourceRow; readonly isOpen: boolean; readonly onOpen: () => void }) {
  const { row } = props;
  const now = useNow();
  const queries = useQueryClient();
  const reconnect = useMutation({
    mutationFn: () => post<SourceReconnected>(`/v1/sources/${encodeURIComponent(row.id)}/reconnect`),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sources"] }),
  });
  const isServer = row.server !== undefined;
  return (
    <article className="source" aria-label={visibleLine(row.name)}>
      <div className={props.isOpen ? "src open" : "src"}>
        {row.icon === undefined ? <Glyph name={row.name} big /> : <Glyph icon={row.icon} big />}
        <div className="who">
          <b className="cut">{visibleLine(row.name)}</b>
          <Cut text={row.about} />
        </div>
        <Status tone={row.tone} word={row.word} calm />
        <p className="msg">{visible(messageOf(row, now))}</p>
        <div className="acts">
          {row.needsLogin && !props.isOpen && (
            <Button icon="login" onClick={props.onOpen}>
              Log in
            </Button>
          )}
          {isServer && isBroken(row) && (
            <Button icon="rerun" busy={reconnect.isPending} onClick={() => reconnect.mutate()}>
              Reconnect
            </Button>
          )}
          <IconButton
            icon={props.isOpen ? "up" : "down"}
            label={`${props.isOpen ? "Hide" : "Show"} details of ${visibleLine(row.name)}`}
            aria-expanded={props.isOpen}
            onClick={props.onOpen}
          />
        </div>
      </div>
      {reconnect.error !== null && (
        <p className="bad-text pad" role="alert">
          {visible(reconnect.error.message)}
        </p>
      )}
      {props.isOpen && (
        <>
          {row.drift.map((drift) => (
            <DriftOf key={drift.tool} source={row.id} drift={drift} />
          ))}
          <More row={row} reconnect={() => reconnect.mutate()} busy={reconnect.isPending} />
        </>
      )}
    </article>
  );
}

/** Not connected, or not as it should be, for another reason than a definition that waits for a yes. */
function isBroken({ status, drift }: SourceRow): boolean {
  return !["ready", "disabled", "connecting"].includes(status.state) && drift.length === 0;
}

function More(props: { readonly row: SourceRow; readonly reconnect: () => void; readonly busy: boolean }) {
  const { row } = props;
  const { status, server } = row;
  return (
    <div className="src-more">
      {status.fix !== undefined && row.drift.length === 0 && !row.needsLogin && (
        <section aria-label="What to do">
          <h3>What to do</h3>
          <div className="row-flex">
            <Code wrap label="Fix">
              {visible(status.fix)}
            </Code>
            <CopyButton text={status.fix} />
          </div>
        </section>
      )}
      {row.needsLogin && <LogIn row={row} />}
      {server !== undefined && server.stderr.length > 0 && (
        <section aria-label="Last words">
          <h3>What it wrote last</h3>
          <Code wrap label="Standard error">
            {visible(server.stderr.join("\n"))}
          </Code>
        </section>
      )}
      {status.tools.length > 0 && (
        <section aria-label="Tools">
          <h3>{plural(status.tools.length, "tool")}</h3>
          <ul className="tool-chips">
            {status.tools.map((tool) => (
              <li key={tool}>
                <Link className="chip mono" href={pathTo("tools", { item: tool })}>
                  {visibleLine(tool)}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {status.quarantined.length > 0 && (
        <section aria-label="Left out">
          <h3>Left out</h3>
          <ul className="left-out">
            {status.quarantined.map((one) => (
              <li key={one.name}>
                <code>{visible(one.name)}</code> <span className="soft">{visible(one.reason)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p className="about">
        Rules and commands know it as <code>{visibleLine(row.id)}</code>.
      </p>
      {server !== undefined && !isBroken(row) && status.state !== "disabled" && (
        <Button icon="rerun" busy={props.busy} onClick={props.reconnect}>
          Reconnect
        </Button>
      )}
    </div>
  );
}

const WAYS = [
  { what: "An MCP server that is a program", command: "hermes mcp add NAME -- npx -y PACKAGE" },
  { what: "An MCP server at an address", command: "hermes mcp add NAME --url https://HOST/mcp" },
  { what: "A plugin", command: "hermes plugins install PATH_OR_PACKAGE" },
  { what: "Commands and requests as YAML: put a file into", command: "~/.hermes/tools/NAME.yaml" },
] as const;

function Adding(props: { readonly onClose: () => void }) {
  return (
    <Modal label="Add a source" onClose={props.onClose} className="adding">
      <header className="modal-head">
        <h2>Add a source</h2>
        <IconButton icon="close" label="Close" onClick={props.onClose} />
      </header>
      <div className="add-ways">
        <p className="soft">In a terminal on this machine. What it brings shows up here without a restart.</p>
        {WAYS.map(({ what, command }) => (
          <div key={command}>
            <p>{what}</p>
            <div className="row-flex">
              <Code label="Command">{command}</Code>
              <CopyButton text={command} />
            </div>
          </div>
        ))}
      </div>
    </Modal>
  );
}
