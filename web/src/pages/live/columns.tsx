import type { ApprovalAnswer, BriefCall } from "../../api/types.js";
import { left, took } from "../../lib/format.js";
import { gistOfText } from "../../lib/gist.js";
import { useNow } from "../../lib/now.js";
import { visibleLine } from "../../lib/visible.js";
import { Ago, Cut } from "../../ui/bits.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import type { ListColumn } from "../../ui/list.js";
import { Status, toneOf } from "../../ui/status.js";
import type { LiveCall } from "./calls-store.js";
import type { TreeRow } from "./tree.js";

export interface CellContext {
  readonly questionOf: (call: LiveCall) => ApprovalAnswer | undefined;
  readonly isOpen: (key: string) => boolean;
  readonly onToggle: (key: string) => void;
}

export function callColumns(context: CellContext): readonly ListColumn<TreeRow>[] {
  const toneFor = (call: LiveCall) =>
    context.questionOf(call) !== undefined ? "asked" : toneOf(call.status);
  return [
    {
      key: "status",
      title: "Status",
      className: "c-st",
      cell: ({ call }) => <Status tone={toneFor(call)} calm />,
    },
    {
      key: "tool",
      title: "Tool",
      className: "c-tool",
      cell: (row) => <ToolCell row={row} context={context} />,
    },
    {
      key: "args",
      title: "Arguments",
      className: "c-args",
      cell: ({ call }) => <ArgumentsCell call={call} />,
    },
    {
      key: "session",
      title: "Session",
      className: "c-session wide",
      cell: ({ call }) => <Cut className="soft" text={call.session_id} />,
    },
    { key: "door", title: "Door", className: "c-door wide quiet", cell: ({ call }) => call.door },
    {
      key: "took",
      title: "Took",
      className: "c-took num",
      cell: ({ call }) => <TookCell call={call} question={context.questionOf(call)} />,
    },
    {
      key: "age",
      title: "Age",
      className: "c-age num quiet",
      cell: ({ call }) => (
        <>
          <span className="word" data-st={toneFor(call)}>
            {toneFor(call) === "ok" ? "" : `${toneFor(call)} · `}
          </span>
          <Ago at={call.started_at} />
        </>
      ),
    },
  ];
}

function ToolCell({ row, context }: { readonly row: TreeRow; readonly context: CellContext }) {
  const { tool, toolset } = row.call;
  // An MCP tool shows its bare name, and the server it comes from in grey.
  const server = toolset?.startsWith("mcp-") === true ? toolset.slice(4) : undefined;
  const prefix = server === undefined ? "" : `mcp_${server}_`;
  const name = prefix !== "" && tool.startsWith(prefix) ? tool.slice(prefix.length) : tool;
  return (
    <>
      {row.inside > 0 && (
        <button
          type="button"
          className="caret"
          tabIndex={-1}
          aria-label={context.isOpen(row.key) ? "Fold" : "Unfold"}
          onClick={(event) => {
            event.stopPropagation();
            context.onToggle(row.key);
          }}
        >
          <Icon name={context.isOpen(row.key) ? "down" : "right"} />
        </button>
      )}
      <Icon name={toolIcon(tool, toolset)} />
      <span className="cut">{visibleLine(name)}</span>
      {server !== undefined && <span className="from quiet cut">{visibleLine(server)}</span>}
      {row.inside > 0 && (
        <span className="kids" title={`${row.inside} calls inside`}>
          {row.inside}
        </span>
      )}
    </>
  );
}

function ArgumentsCell({ call }: { readonly call: BriefCall }) {
  const why = reasonOf(call);
  return (
    <>
      <Cut mono text={gistOfText(call.preview)} />
      {why !== undefined && (
        <span className="why cut" title={visibleLine(call.error_message ?? why)}>
          {visibleLine(why)}
        </span>
      )}
    </>
  );
}

/** What went wrong, in few words; the status says the rest. */
function reasonOf(call: BriefCall): string | undefined {
  if (call.status === "unknown") return "process died";
  if (call.status !== "error") return undefined;
  return call.error_code === undefined ? call.error_message : call.error_code.replaceAll("_", " ");
}

function TookCell({
  call,
  question,
}: {
  readonly call: BriefCall;
  readonly question: ApprovalAnswer | undefined;
}) {
  if (question !== undefined) return <Countdown question={question} />;
  if (call.status === "running") return <Elapsed since={call.started_at} />;
  return <>{took(call.duration_ms)}</>;
}

function Elapsed({ since }: { readonly since: number }) {
  return <span className="elapsed">{took(Math.max(0, useNow() - since))}</span>;
}

function Countdown({ question }: { readonly question: ApprovalAnswer }) {
  const rest = question.expires_at - useNow();
  const share = Math.max(0, Math.min(1, rest / (question.expires_at - question.created_at)));
  return (
    <span className="elapsed">
      {left(rest)}
      {rest < 60_000 && " s"}
      <svg viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
        <rect className="track" width="100" height="2" />
        <rect className="c-asked" width={share * 100} height="2" />
      </svg>
    </span>
  );
}
