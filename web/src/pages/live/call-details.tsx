import type { CallAnswer, WholeCall } from "../../api/types.js";
import { bytes, count, plural, took } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Chip, Code, Cut } from "../../ui/bits.js";
import { Section } from "../../ui/drawer.js";
import { JsonView } from "../../ui/json-view.js";
import { Decision } from "./decision.js";
import { Timeline } from "./timeline.js";

/** What is known of a call, and the call it was made from. */
export function CallDetails({
  detail,
  above,
}: {
  readonly detail: CallAnswer;
  readonly above: CallAnswer | undefined;
}) {
  const { call, result } = detail;
  // Inside another call the whole of it is the picture; alone, its own children are.
  const root = above ?? detail;
  const told = errorIn(call, result?.text);
  return (
    <>
      {root.children.length > 0 && (
        <Timeline root={root.call} children_={root.children} current={call.call_id} />
      )}
      <Decision detail={detail} />
      <Effects effects={call.effects} />
      <Section
        title="Arguments"
        end={call.args_bytes === undefined ? "JSON" : `first part of ${bytes(call.args_bytes)}`}
      >
        {typeof call.args === "string" ? (
          <Code wrap>{visible(call.args)}</Code>
        ) : (
          <JsonView value={call.args} label="Arguments" />
        )}
        {call.repairs !== undefined && call.repairs !== "" && (
          <p className="note">Repaired before it ran: {visible(call.repairs)}</p>
        )}
      </Section>
      {call.error_message !== undefined && (
        <Section title={isRefused(call) ? "Refused" : "Error"} end={call.error_code}>
          <p className="error-text">{visible(call.error_message)}</p>
          {told?.hint !== undefined && <p className="note">{visible(told.hint)}</p>}
        </Section>
      )}
      {told === undefined && (
        <Section title="Result" end={sizeOf(call)}>
          {result === undefined ? (
            <p className="note">
              {call.result_chars === 0 || call.status === "running"
                ? "There is none."
                : "It was not kept. The journal keeps the newest; journal.results_mb says how many."}
            </p>
          ) : (
            <>
              <ResultText text={result.text} />
              {!result.complete && <p className="note">Only its beginning was kept.</p>}
            </>
          )}
        </Section>
      )}
      <More call={call} />
    </>
  );
}

function isRefused({ status }: WholeCall): boolean {
  return status === "denied" || status === "blocked";
}

/** Undefined where the result says more than the error and its hint. */
function errorIn(
  call: WholeCall,
  text: string | undefined,
): { readonly hint: string | undefined } | undefined {
  const value = text === undefined ? undefined : parsed(text);
  if (call.error_message === undefined || typeof value !== "object" || value === null) return undefined;
  const { status: _status, error, hint, ...more } = value as Readonly<Record<string, unknown>>;
  if (error !== call.error_message || Object.keys(more).length > 0) return undefined;
  return { hint: typeof hint === "string" ? hint : undefined };
}

/** Many results are JSON; that reads better with its lines. */
function ResultText({ text }: { readonly text: string }) {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  return value === undefined ? (
    <Code wrap label="Result">
      {visible(text)}
    </Code>
  ) : (
    <JsonView value={value} label="Result" />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sizeOf(call: WholeCall): string {
  const parts = [
    call.result_chars === undefined ? undefined : plural(call.result_chars, "character"),
    call.result_tokens === undefined ? undefined : plural(call.result_tokens, "token"),
  ];
  return parts.filter((part) => part !== undefined).join(" · ");
}

function Effects({ effects }: { readonly effects: WholeCall["effects"] }) {
  const known = typeof effects === "string" ? [] : effects;
  return (
    <Section title="Effects">
      {known.length === 0 ? (
        <p className="note">{typeof effects === "string" ? visibleLine(effects) : "It touches nothing."}</p>
      ) : (
        <ul className="fx">
          {known.map(({ action, resource }) => (
            <li key={`${action} ${resource}`}>
              <Chip mono>{visibleLine(action)}</Chip>
              <Cut mono text={resource === "*" ? "anything" : resource} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function More({ call }: { readonly call: WholeCall }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Door", call.door],
    ["Runs in", call.worker === undefined ? call.environment : `${call.environment}, worker ${call.worker}`],
    ["Model", call.model],
    ["Queued", call.queued_ms === undefined ? undefined : took(call.queued_ms)],
    ["Waited for an answer", call.approval_wait_ms === undefined ? undefined : took(call.approval_wait_ms)],
    ["Retries", call.retries === undefined ? undefined : count(call.retries)],
    [
      "Tokens in, out",
      call.input_tokens === undefined
        ? undefined
        : `${count(call.input_tokens)}, ${count(call.output_tokens ?? 0)}`,
    ],
    ["Cost", call.cost_usd === undefined ? undefined : `$${call.cost_usd.toFixed(4)}`],
  ];
  return (
    <Section title="More">
      <dl className="more-facts">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="cut">{visibleLine(value)}</dd>
            </div>
          ),
        )}
      </dl>
      {call.damaged === true && (
        <p className="note">Its row no longer matches its checksum: what stands here is not to be trusted.</p>
      )}
    </Section>
  );
}
