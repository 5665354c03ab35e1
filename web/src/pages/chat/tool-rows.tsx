import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { approvalsQuery } from "../../api/queries.js";
import { took } from "../../lib/format.js";
import { gist } from "../../lib/gist.js";
import { visibleLine } from "../../lib/visible.js";
import { usePlace } from "../../router.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { JsonView } from "../../ui/json-view.js";
import { Question } from "../../ui/question.js";
import { ResultBody } from "../../ui/result.js";
import { Status, type Tone } from "../../ui/status.js";
import type { ToolUse } from "./items.js";

/** Calls that follow each other, one line each. */
export function ToolRows({ calls }: { readonly calls: readonly ToolUse[] }) {
  return (
    <div className="tcard">
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows at its end, and ids repeat
        <ToolRow key={index} call={call} />
      ))}
    </div>
  );
}

const TONES: Readonly<Record<ToolUse["state"], Tone>> = {
  writing: "running",
  running: "running",
  asked: "asked",
  ok: "ok",
  error: "error",
  denied: "denied",
};

function ToolRow({ call }: { readonly call: ToolUse }) {
  const id = useId();
  const hasPicture = call.content?.some(({ type }) => type === "image") === true;
  const [wanted, setOpen] = useState<boolean>();
  const isOpen = wanted ?? hasPicture;
  const tone = TONES[call.state];
  return (
    <div className="tool-use">
      <button
        type="button"
        className="tl-row"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={toolIcon(call.name)} />
        <b>{visibleLine(call.name)}</b>
        <code className="cut soft grow">{visibleLine(call.progress ?? gist(call.arguments))}</code>
        {call.duration_ms !== undefined && <span className="num">{took(call.duration_ms)}</span>}
        <Status tone={tone} calm word={call.state === "writing" ? "writing" : tone} />
        <Icon name={isOpen ? "up" : "down"} size="s" className="fold" />
      </button>
      {call.state === "asked" && <Asked call={call} />}
      {isOpen && (
        <div className="tool-more" id={id}>
          {call.arguments !== undefined && !hasPicture && (
            <JsonView value={call.arguments} label={`Arguments of ${call.name}`} />
          )}
          {call.content !== undefined && (
            <ResultBody
              result={{ content: call.content, human: call.human }}
              command={commandOf(call.arguments)}
            />
          )}
          {call.content === undefined && call.human !== undefined && (
            <p className="about">{visibleLine(call.human)}</p>
          )}
        </div>
      )}
    </div>
  );
}

/** The question of this call, if it is still open: the event names the call, the queue has the question. */
function Asked({ call }: { readonly call: ToolUse }) {
  const { session } = usePlace().query;
  const open = useQuery(approvalsQuery).data ?? [];
  const asked = open.find(({ conversation, call_id }) => conversation === session && call_id === call.id);
  if (asked === undefined) return null;
  return (
    <div className="tool-asked">
      <Question key={asked.id} asked={asked} />
    </div>
  );
}

function commandOf(args: unknown): string | undefined {
  const command = (args as { readonly command?: unknown } | undefined)?.command;
  return typeof command === "string" ? command : undefined;
}
