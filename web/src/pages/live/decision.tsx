import type { CallAnswer, TraceLine } from "../../api/types.js";
import { clock, sentence, took } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Section } from "../../ui/drawer.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { Status, type Tone } from "../../ui/status.js";

const OUTCOMES: Readonly<Record<TraceLine["outcome"], { readonly icon: IconName; readonly tone?: Tone }>> = {
  pass: { icon: "check" },
  "no match": { icon: "minus" },
  allow: { icon: "s-ok", tone: "ok" },
  ask: { icon: "s-asked", tone: "asked" },
  deny: { icon: "s-denied", tone: "denied" },
};

/** What was decided, then the rules in the order they were looked at, then who answered. */
export function Decision({ detail }: { readonly detail: CallAnswer }) {
  const { call, approval } = detail;
  const trace = withoutRepeats(detail.trace);
  const [kind = "", answer] = call.decision.split(":");
  const tone: Tone =
    kind === "deny" ? "denied" : kind === "ask" ? "asked" : kind === "allow" ? "ok" : "unknown";
  const word =
    { denied: "denied", asked: "asked", ok: "allowed", unknown: "not decided" }[tone as "ok"] ??
    "not decided";
  const reason =
    approval?.reason ?? trace.find(({ outcome }) => outcome === "deny" || outcome === "ask")?.reason;
  const said = answerText(answer ?? approval?.answer);
  return (
    <Section
      title="Decision"
      end={approval === undefined ? undefined : `profile ${visibleLine(approval.profile)}`}
    >
      <p className="verdict">
        <Status tone={tone} word={word} pill />
        <span>
          {reason !== undefined && <b>{visible(sentence(reason))} </b>}
          <span className="soft">{said ?? (tone === "ok" ? "No rule stood against it." : "")}</span>
        </span>
      </p>
      <ol className="trace">
        {trace.length === 0 && call.rule !== "" && (
          <TraceRow
            line={{
              rule: call.rule,
              outcome: tone === "denied" ? "deny" : tone === "asked" ? "ask" : "allow",
            }}
          />
        )}
        {trace.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: one rule may be looked at for several effects
          <TraceRow key={index} line={line} />
        ))}
        {approval?.answered_at !== undefined && (
          <li className="final" data-st={approval.answer === "deny" ? "denied" : "ok"}>
            <span className="out">
              <Icon name={approval.answer === "deny" ? "s-denied" : "s-ok"} />
              {approval.answer}
            </span>
            <span className="rule cut">
              {byText(approval.answered_by)}, after {took(approval.answered_at - approval.created_at)}
            </span>
            <span className="at">{clock(approval.answered_at)}</span>
          </li>
        )}
      </ol>
      {detail.trace_missing !== undefined && <p className="note">{visible(detail.trace_missing)}</p>}
      {trace.length > 0 && <p className="note">By the rules as they are now.</p>}
    </Section>
  );
}

function TraceRow({ line }: { readonly line: TraceLine }) {
  const { icon, tone } = OUTCOMES[line.outcome];
  const where =
    line.file === undefined
      ? (line.list ?? "built-in")
      : `${line.file.split("/").at(-1)}${line.line === undefined ? "" : `:${line.line}`}`;
  return (
    <li data-st={tone}>
      <span className="out">
        <Icon name={icon} />
        {line.outcome}
      </span>
      <code className="rule cut" title={line.reason === undefined ? undefined : visibleLine(line.reason)}>
        {visibleLine(line.rule)}
      </code>
      <span className="at cut" title={line.file}>
        {visibleLine(where)}
      </span>
    </li>
  );
}

function answerText(answer: string | undefined): string | undefined {
  if (answer === undefined) return undefined;
  const words: Readonly<Record<string, string>> = {
    once: "Approved once.",
    session: "Approved for the session.",
    always: "Approved always.",
    deny: "A person said no.",
    timeout: "Nobody answered in time.",
  };
  return words[answer] ?? `Answered: ${visibleLine(answer)}.`;
}

function byText(by: string | undefined): string {
  return by === "http" || by === "page"
    ? "you, in this dashboard"
    : by === undefined
      ? "somebody"
      : visibleLine(by);
}

/** One rule is often asked about several effects, with one answer. */
function withoutRepeats(trace: readonly TraceLine[]): readonly TraceLine[] {
  const seen = new Set<string>();
  return trace.filter(({ rule, outcome, list, line }) => {
    const key = JSON.stringify([rule, outcome, list, line]);
    return !seen.has(key) && seen.add(key);
  });
}
