import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, post } from "../../api/client.js";
import type { ToolAnswer, ToolListing, ToolSwitched } from "../../api/types.js";
import { plural, took } from "../../lib/format.js";
import { gistOfText } from "../../lib/gist.js";
import { visible } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Ago, Chip, CopyButton, Cut, Glyph } from "../../ui/bits.js";
import { Switch, Tabs } from "../../ui/controls.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { JsonView } from "../../ui/json-view.js";
import { Link } from "../../ui/link.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status, toneOf } from "../../ui/status.js";
import { resolved, type Schema, typeWord } from "./form/kinds.js";
import { callsQuery, shownName, toolQuery } from "./queries.js";
import { ScorecardTab } from "./scorecard.js";
import { stateOf } from "./tool-list.js";
import { TryIt } from "./try-it.js";

type Tab = "try" | "schema" | "model" | "calls" | "score";

export function ToolDetail(props: { readonly name: string; readonly listed: ToolListing | undefined }) {
  const { query } = usePlace();
  const about = useQuery(toolQuery(props.name));
  const calls = useQuery(callsQuery(props.name));
  const tool = props.listed ?? about.data?.tool;
  const tab = (query.tab ?? "try") as Tab;
  const isUnknown = about.error instanceof ApiError && about.error.status === 404;
  if (tool === undefined)
    return isUnknown ? (
      <Empty icon="tools" title="There is no tool of this name" command="hermes tools list">
        <code>{visible(props.name)}</code> may have gone with its source.
      </Empty>
    ) : about.isError ? (
      <ErrorState
        title="The tool could not be read"
        error={about.error}
        stillWorks="The list stays."
        onRetry={() => void about.refetch()}
      />
    ) : (
      <Skeleton />
    );
  return (
    <section className="pane tool" aria-label={visible(tool.name)}>
      <Head tool={tool} tokens={about.data?.definition_tokens} />
      <Tabs<Tab>
        label={visible(tool.name)}
        value={tab}
        options={[
          { value: "try", label: "Try it" },
          { value: "schema", label: "Schema" },
          { value: "model", label: "What a model sees" },
          { value: "calls", label: "Calls", count: calls.data?.calls.length },
          { value: "score", label: "Scorecard" },
        ]}
        onChange={(value) => setQuery({ tab: value === "try" ? undefined : value })}
      />
      {about.data === undefined ? (
        about.isError ? (
          <ErrorState
            title="The tool could not be read"
            error={about.error}
            onRetry={() => void about.refetch()}
          />
        ) : (
          <Skeleton rows={4} />
        )
      ) : (
        <div className="scroll tool-body" role="tabpanel" aria-label={tab} tabIndex={0}>
          {tab === "schema" && <SchemaTab about={about.data} />}
          {tab === "model" && <ModelTab about={about.data} />}
          {tab === "calls" && <CallsTab tool={tool} />}
          {tab === "score" && <ScorecardTab tool={tool.name} />}
          {tab === "try" && <TryIt about={about.data} />}
        </div>
      )}
    </section>
  );
}

function Head({ tool, tokens }: { readonly tool: ToolListing; readonly tokens: number | undefined }) {
  const { query } = usePlace();
  const { name, from } = shownName(tool);
  const state = stateOf(tool);
  const source = (tool.provenance as { readonly source?: string }).source;
  return (
    <>
      <Link className="back" href={pathTo("tools", { query: { q: query.q, show: query.show } })}>
        <Icon name="right" /> All tools
      </Link>
      <header className="dhead">
        <Glyph icon={toolIcon(tool.name, tool.toolset)} big />
        <div className="grow">
          <h2>
            {visible(name)} {from !== undefined && <span className="from">{visible(from)}</span>}
          </h2>
          <p>{visible(tool.description)}</p>
          <div className="chips">
            {tool.permissions.map((permission) => (
              <Chip key={permission} mono>
                {visible(permission)}
              </Chip>
            ))}
            {tool.permissions.length === 0 && <Chip>no permissions</Chip>}
            <Chip {...(source !== undefined && { title: visible(source) })}>
              {kindWord(tool.provenance.kind)}
            </Chip>
            {tokens !== undefined && <Chip>{plural(tokens, "token")}</Chip>}
            {tool.aliases.length > 0 && <Chip>also {visible(tool.aliases.join(", "))}</Chip>}
          </div>
        </div>
        <div className="end">
          <Status
            tone={state === "ready" ? "ok" : state === "setup" ? "setup" : "cancelled"}
            word={state === "ready" ? "ready" : state === "setup" ? "needs set-up" : "off"}
          />
          <ToolSwitch tool={tool} />
        </div>
      </header>
      {state === "setup" && <Missing tool={tool} />}
      {state === "off" && <p className="because">Off: {visible(tool.because)}</p>}
    </>
  );
}

function kindWord(kind: string): string {
  return { builtin: "built-in", mcp: "MCP", yaml: "YAML", plugin: "plugin", module: "module" }[kind] ?? kind;
}

/** Why it cannot be used yet, and what to do about it. */
function Missing({ tool }: { readonly tool: ToolListing }) {
  const command = /\b(?:hermes|npm|apt|brew|pip|docker|ollama) [^.;]+/.exec(tool.fix ?? "")?.[0];
  return (
    <div className="missing" data-st="setup">
      <Icon name="warn" />
      <div className="grow">
        <p>
          <b>{visible(tool.reason ?? "It is not available.")}</b>
        </p>
        {tool.fix !== undefined && <p className="soft">{visible(tool.fix)}</p>}
        {tool.requires_env.length > 0 && (
          <p className="soft">
            Needs <code>{visible(tool.requires_env.join(", "))}</code>
          </p>
        )}
      </div>
      {tool.fix !== undefined && <CopyButton text={command ?? tool.fix} label="Copy fix" />}
    </div>
  );
}

function ToolSwitch({ tool }: { readonly tool: ToolListing }) {
  const queries = useQueryClient();
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      post<ToolSwitched>(`/v1/tools/${encodeURIComponent(tool.name)}`, { enabled }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  });
  return (
    <>
      <Switch
        label={`Offer ${visible(tool.name)} to models`}
        on={turn.isPending ? turn.variables : tool.enabled}
        busy={turn.isPending}
        onChange={(on) => turn.mutate(on)}
      />
      {turn.error !== null && (
        <span className="switch-error" role="alert">
          {visible(turn.error.message)}
        </span>
      )}
    </>
  );
}

function SchemaTab({ about }: { readonly about: ToolAnswer }) {
  const schema = resolved(about.parameters as Schema);
  const properties = Object.entries(schema.properties ?? {});
  return (
    <div className="page">
      {properties.length > 0 && (
        <div className="rows">
          <div className="tablewrap" tabIndex={0} role="group" aria-label="Parameters">
            <table className="table params">
              <thead>
                <tr>
                  <th scope="col">Parameter</th>
                  <th scope="col">Type</th>
                  <th scope="col">What it is</th>
                </tr>
              </thead>
              <tbody>
                {properties.map(([name, one]) => (
                  <tr key={name}>
                    <td>
                      <code>{visible(name)}</code>
                      {schema.required?.includes(name) === true && <span className="req"> required</span>}
                    </td>
                    <td>
                      <span className="ty">{typeWord(one)}</span>
                    </td>
                    <td className="wrap">
                      {visible(one.description ?? "")}
                      {one.enum !== undefined && <code> {visible(one.enum.map(String).join(" · "))}</code>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
      <section aria-label="JSON Schema">
        <div className="titled">
          <h3>JSON Schema</h3>
          <CopyButton look="plain" text={JSON.stringify(about.parameters, null, 2)} />
        </div>
        <JsonView value={about.parameters} label="Schema of the parameters" />
      </section>
      {about.output !== undefined && (
        <section aria-label="Schema of the result">
          <h3>What it gives</h3>
          <JsonView value={about.output} label="Schema of the result" />
        </section>
      )}
      {about.examples.length > 0 && (
        <section aria-label="Examples">
          <h3>Examples</h3>
          {about.examples.map((example) => (
            <div className="example" key={example.title}>
              <p>{visible(example.title)}</p>
              <JsonView value={example.arguments} label="Arguments" />
              {example.result !== undefined && <JsonView value={example.result} label="Gives" />}
            </div>
          ))}
        </section>
      )}
    </div>
  );
}

function ModelTab({ about }: { readonly about: ToolAnswer }) {
  const definition = {
    name: about.tool.name,
    description: about.tool.description,
    parameters: about.parameters,
  };
  return (
    <div className="page">
      <p className="soft">
        {plural(about.definition_tokens, "token")} in every request that offers it.{" "}
        {about.tool.deferrable
          ? "Tool search may hold it back until a model looks for it."
          : "It is always offered while it is on."}
      </p>
      <JsonView value={definition} label="Definition" />
    </div>
  );
}

function CallsTab({ tool }: { readonly tool: ToolListing }) {
  const calls = useQuery(callsQuery(tool.name));
  if (calls.isError) return <ErrorState title="The calls could not be read" error={calls.error} />;
  if (calls.data === undefined) return <Skeleton rows={4} />;
  if (calls.data.calls.length === 0)
    return (
      <Empty icon="live" title="Not called yet" command={`hermes call ${tool.name}`}>
        {calls.data.journal
          ? "Calls from everywhere show up here."
          : "Calls are not recorded: journal.enabled is false."}
      </Empty>
    );
  return (
    <div className="page">
      <ul className="tries card">
        {calls.data.calls.map((call) => (
          <li key={call.seq}>
            <Link href={pathTo("live", { query: { tool: tool.name, call: String(call.seq) } })}>
              <Status tone={toneOf(call.status)} calm />
              <Cut mono text={call.error_message ?? gistOfText(call.preview)} className="grow" />
              <span className="num quiet">{took(call.duration_ms)}</span>
              <span className="num quiet">
                <Ago at={call.started_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
