import type { ApprovalAnswer } from "../../api/types.js";
import { left } from "../../lib/format.js";
import { useNow } from "../../lib/now.js";
import { visibleLine } from "../../lib/visible.js";
import { pathTo } from "../../router.js";
import { Ago, Ring } from "../../ui/bits.js";
import { Link } from "../../ui/link.js";
import { SessionName } from "../../ui/session-name.js";
import { Status, type Tone } from "../../ui/status.js";

const SOON_MS = 60_000;

/** Questions that wait, the one that runs out next first. */
export function Inbox(props: {
  readonly open: readonly ApprovalAnswer[];
  readonly current: string | undefined;
}) {
  return (
    <>
      <h2>Soonest first</h2>
      <ol>
        {props.open.map((question) => (
          <li key={question.id}>
            <QuestionLink question={question} isCurrent={question.id === props.current} />
          </li>
        ))}
      </ol>
    </>
  );
}

function QuestionLink({
  question,
  isCurrent,
}: {
  readonly question: ApprovalAnswer;
  readonly isCurrent: boolean;
}) {
  const rest = question.expires_at - useNow();
  return (
    <Link
      className="q"
      href={pathTo("approvals", { query: { question: question.id } })}
      aria-current={isCurrent || undefined}
    >
      <Ring
        share={rest / (question.expires_at - question.created_at)}
        text={left(rest)}
        soon={rest < SOON_MS}
      />
      <span className="top">
        <span className="cut">{visibleLine(question.tool)}</span>
        <span className="num">
          <Ago at={question.created_at} />
        </span>
      </span>
      <code className="what cut">{visibleLine(question.what)}</code>
      <span className="from cut">
        <SessionName {...question} /> · {visibleLine(question.door)}
      </span>
    </Link>
  );
}

export function outcomeOf(question: ApprovalAnswer): { readonly tone: Tone; readonly word: string } {
  if (question.answer === "deny" || question.status === "denied") return { tone: "denied", word: "denied" };
  if (question.status === "expired") return { tone: "timeout", word: "expired" };
  return { tone: "ok", word: question.answer ?? question.status };
}

export function SettledRow(props: { readonly question: ApprovalAnswer; readonly isCurrent: boolean }) {
  const { question } = props;
  const { tone, word } = outcomeOf(question);
  return (
    <Link
      className="qdone"
      href={pathTo("approvals", { query: { show: "settled", question: question.id } })}
      aria-current={props.isCurrent || undefined}
    >
      <Status tone={tone} word={word} calm />
      <code className="what cut soft">{visibleLine(question.what)}</code>
      <span className="quiet">
        <Ago at={question.answered_at ?? question.created_at} />
      </span>
    </Link>
  );
}
