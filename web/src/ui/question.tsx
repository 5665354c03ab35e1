import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../api/client.js";
import type { ApprovalAnswer } from "../api/types.js";
import { capital, left } from "../lib/format.js";
import { useNow } from "../lib/now.js";
import { visible } from "../lib/visible.js";
import { pathTo } from "../router.js";
import { Code, Cut } from "./bits.js";
import { Button } from "./button.js";
import { JsonView } from "./json-view.js";
import { Link } from "./link.js";
import { Status } from "./status.js";

const GUARD_MS = 500;
type Word = "once" | "session" | "always" | "deny";

/** A question that stands among other things: the whole of what is asked, four answers that look alike. */
export function Question({ asked }: { readonly asked: ApprovalAnswer }) {
  const now = useNow();
  const queries = useQueryClient();
  const [confirming, setConfirming] = useState(false);
  const answer = useMutation({
    mutationFn: (word: Word) =>
      post("/v1/approvals", { id: asked.id, hash: asked.hash, signature: asked.signature, answer: word }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
  /** Whoever has just been shown it may still be pressing something else. */
  const isEarly = () => performance.now() - shownAt < GUARD_MS;
  const give = (word: Word) => isEarly() || answer.mutate(word);
  const isElsewhere = answer.error instanceof ApiError && answer.error.status === 409;
  const over = answer.isSuccess || isElsewhere;
  const remembers = asked.always_remembers.join("\n");
  const [shownAt] = useState(() => performance.now());
  return (
    <section
      className={over ? "question settled" : "question"}
      aria-label={`Approval: ${visible(asked.reason)}`}
    >
      <header>
        <Status tone="asked" word={visible(capital(asked.reason))} />
        <span className="num">{over ? "" : `${timeLeft(asked.expires_at - now)} left`}</span>
      </header>
      <div className="inside">
        <Asked asked={asked} />
        {answer.error !== null && (
          <p className="about" role="alert">
            {isElsewhere ? "Answered elsewhere." : visible(answer.error.message)}
          </p>
        )}
        {answer.isSuccess && <p className="about">You answered: {answer.variables}.</p>}
        {!over && !confirming && (
          <div className="answers">
            <Button busy={answer.isPending} onClick={() => give("once")} title={asked.covers.once}>
              Once
            </Button>
            <Button
              busy={answer.isPending}
              disabledBecause={
                asked.covers.session === undefined ? "Counts as once for a call from here" : undefined
              }
              onClick={() => give("session")}
              title={asked.covers.session}
            >
              Session
            </Button>
            <Button
              busy={answer.isPending}
              disabledBecause={remembers === "" ? "Nothing of this can be remembered" : undefined}
              aria-expanded={false}
              onClick={() => setConfirming(true)}
            >
              Always
            </Button>
            <Button busy={answer.isPending} onClick={() => give("deny")}>
              Deny
            </Button>
            <Link className="link place" href={pathTo("approvals", { query: { question: asked.id } })}>
              Everything about it
            </Link>
          </div>
        )}
        {!over && confirming && (
          <>
            <p className="covers">Always would remember this and no longer ask:</p>
            <Code wrap label="Grant">
              {visible(remembers)}
            </Code>
            <div className="answers">
              <Button busy={answer.isPending} onClick={() => give("always")}>
                Approve always
              </Button>
              <Button look="plain" onClick={() => setConfirming(false)}>
                Back
              </Button>
            </div>
          </>
        )}
      </div>
    </section>
  );
}

function timeLeft(ms: number): string {
  const text = left(ms);
  return text.includes(":") ? text : `${text} s`;
}

function Asked({ asked }: { readonly asked: ApprovalAnswer }) {
  if (asked.segments.length === 0)
    return <JsonView value={asked.args} label={`Arguments of ${asked.tool}`} />;
  return (
    <>
      <Code wrap label="Command">
        {asked.segments.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <span key={index} className={isDanger(segment.verdict) ? "danger" : undefined}>
            {index > 0 && "\n"}
            {visible(segment.text)}
          </span>
        ))}
      </Code>
      <Cut className="about" text={`in ${asked.cwd}, runs in ${asked.environment}`} />
    </>
  );
}

function isDanger(verdict: string): boolean {
  return verdict !== "safe";
}
