import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { AnswerWord, ApprovalAnswer } from "../../api/types.js";
import { left } from "../../lib/format.js";
import { useNow } from "../../lib/now.js";
import { preferences } from "../../lib/settings.js";
import { visibleLine } from "../../lib/visible.js";
import { Glyph, Ring } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Checkbox } from "../../ui/controls.js";
import { Exact } from "../../ui/exact.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { SessionName } from "../../ui/session-name.js";
import { Strip } from "../../ui/states.js";
import { AskedLately } from "./asked-lately.js";
import { WhatRuns } from "./what-runs.js";

export interface Given {
  readonly answer: AnswerWord;
  readonly widen?: boolean;
  readonly reason?: string;
}

/** Whoever has just been shown another question may still be answering the last one. */
const GUARD_MS = 500;
const SOON_MS = 60_000;

/** One question: what would run, why it is asked, and four answers that look alike. */
export function QuestionCard(props: {
  readonly question: ApprovalAnswer;
  readonly onAnswer: (given: Given) => void;
  readonly busy: boolean;
  /** Why this browser may not answer. */
  readonly mayNot: string | undefined;
  /** Whether the card takes the focus when it comes up. */
  readonly takesFocus: boolean;
}) {
  const { question } = props;
  const [always, setAlways] = useState(false);
  const [widen, setWiden] = useState(false);
  const [reason, setReason] = useState("");
  const card = useRef<HTMLElement>(null);
  const shownAt = useRef(0);
  const title = useId();
  const { end, seen } = useSeenToTheEnd();
  const takesFocus = useRef(props.takesFocus);
  useEffect(() => {
    shownAt.current = performance.now();
    if (takesFocus.current) card.current?.focus({ preventScroll: true });
  }, []);

  const isOver = useNow() >= question.expires_at;
  const blocked =
    props.mayNot ?? (isOver ? "Its time has run out." : !seen ? "Scroll to the end of it first." : undefined);
  const reasons: Readonly<Record<AnswerWord, string | undefined>> = {
    once: blocked,
    session:
      blocked ??
      (question.covers.session !== undefined
        ? undefined
        : question.door === "http"
          ? "Counts as once there: all http clients share one session."
          : "There is nothing more a session could cover."),
    always:
      blocked ?? (question.always_remembers.length > 0 ? undefined : "This cannot be allowed for good."),
    deny: props.mayNot ?? (isOver ? "Its time has run out." : undefined),
  };
  const press = (answer: AnswerWord) => {
    if (props.busy || reasons[answer] !== undefined || performance.now() - shownAt.current < GUARD_MS) return;
    if (answer === "always") {
      setAlways(!always);
      return;
    }
    props.onAnswer({ answer, ...(answer === "deny" && reason.trim() !== "" && { reason: reason.trim() }) });
  };
  const approveAlways = () => props.busy || props.onAnswer({ answer: "always", ...(widen && { widen }) });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.repeat || !preferences().singleKeys) return;
    if (event.target instanceof HTMLElement && event.target.closest("input, textarea") !== null) return;
    const answer = ({ o: "once", s: "session", a: "always", d: "deny" } as const)[event.key.toLowerCase()];
    if (answer !== undefined) {
      event.preventDefault();
      press(answer);
    }
    if (event.key === "Escape" && always) {
      event.stopPropagation();
      setAlways(false);
      card.current?.focus();
    }
  };

  return (
    <article className="ask" ref={card} tabIndex={-1} aria-labelledby={title} onKeyDown={onKeyDown}>
      <div className="lead">
        <Glyph icon={toolIcon(question.tool)} big />
        <div>
          <h2 id={title}>
            <Exact text={question.reason} />
          </h2>
          <p>
            {question.conversation === undefined ? (
              <>
                <b>{visibleLine(question.tool)}</b> waits in session
              </>
            ) : (
              "The agent wants to run this in"
            )}{" "}
            <b>
              <SessionName {...question} />
            </b>
          </p>
        </div>
        <Clock question={question} />
      </div>
      <WhatRuns question={question} />
      <div ref={end} />
      {question.review !== undefined && (
        <p className="aside-note">
          <Icon name="t-agent" />
          <span>
            <b>Reviewer:</b> <Exact text={question.review} />
          </span>
        </p>
      )}
      <dl className="facts">
        <Fact name="Runs in" value={question.environment} />
        <Fact
          name="Asked by"
          value={`${question.door}, ${question.owner_alive ? "still running" : "gone by now"}`}
        />
        <Fact name="Profile" value={question.profile} />
        <Fact name="Bound to" value={(question.hash.match(/.{1,4}/g) ?? []).slice(0, 3).join("·")} mono />
      </dl>
      {!question.owner_alive && (
        <Strip tone="unknown" icon="info">
          The process that asked is gone. To run it after all:{" "}
          <code>hermes approvals approve {visibleLine(question.id)} --resume</code>
        </Strip>
      )}
      <div className="answers" role="group" aria-label="Answer">
        <Answer
          answer="once"
          label="Once"
          keys="O"
          because={reasons.once}
          covers={question.covers.once ?? "This call, exactly as shown"}
          onPress={press}
        />
        <Answer
          answer="session"
          label="Session"
          keys="S"
          because={reasons.session}
          covers={question.covers.session ?? "The same kind until the session ends"}
          onPress={press}
        />
        <Answer
          answer="always"
          label="Always"
          keys="A"
          because={reasons.always}
          covers={question.covers.always ?? "From now on, exactly this in every session"}
          onPress={press}
          expanded={always}
        />
        <Answer
          answer="deny"
          label="Deny"
          keys="D"
          because={reasons.deny}
          covers="Nothing runs. You may tell the agent why"
          onPress={press}
        />
      </div>
      {always && (
        <section className="cover" id={`${title}-cover`} aria-label="What always would cover">
          <b>Always would add this grant</b>
          <pre className="code wrap" tabIndex={0} role="group" aria-label="Grant">
            {question.always_remembers.map((line) => (
              <div key={line}>
                <Exact text={line} />
              </div>
            ))}
          </pre>
          {question.rule !== "" && (
            <Checkbox checked={widen} onChange={setWiden}>
              Widen to every call of this kind: <code>{visibleLine(question.rule)}</code>. It will no longer
              be asked about. <AskedLately rule={question.rule} />
            </Checkbox>
          )}
          <div className="go">
            <Button look="ink" busy={props.busy} onClick={approveAlways}>
              Approve always
            </Button>
            <Button look="plain" keys="Esc" onClick={() => setAlways(false)}>
              Back
            </Button>
          </div>
        </section>
      )}
      <div className="why-not">
        <label htmlFor={`${title}-why`}>Why not</label>
        <input
          id={`${title}-why`}
          className="in"
          value={reason}
          maxLength={1_000}
          placeholder="Told to the agent with Deny"
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </article>
  );
}

function Clock({ question }: { readonly question: ApprovalAnswer }) {
  const rest = question.expires_at - useNow();
  return (
    <div className="clock">
      <span>
        Denied when
        <br />
        time runs out
      </span>
      <Ring
        big
        share={rest / (question.expires_at - question.created_at)}
        text={rest < SOON_MS ? `${left(rest)} s` : left(rest)}
        soon={rest < SOON_MS}
      />
    </div>
  );
}

function Fact(props: { readonly name: string; readonly value: string; readonly mono?: boolean }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className={props.mono === true ? "mono" : ""}>{visibleLine(props.value)}</dd>
    </div>
  );
}

function Answer(props: {
  readonly answer: AnswerWord;
  readonly label: string;
  readonly keys: string;
  readonly covers: string;
  readonly because: string | undefined;
  readonly expanded?: boolean;
  readonly onPress: (answer: AnswerWord) => void;
}) {
  const id = useId();
  return (
    <div className="ans">
      <kbd aria-hidden="true">{props.keys}</kbd>
      <button
        type="button"
        aria-describedby={id}
        aria-disabled={props.because !== undefined || undefined}
        aria-expanded={props.expanded}
        onClick={() => props.onPress(props.answer)}
      >
        {props.label}
      </button>
      <span id={id}>{visibleLine(props.because ?? props.covers)}</span>
    </div>
  );
}

/** A text that is longer than the screen must have been scrolled to its end before anybody says yes to it. */
function useSeenToTheEnd() {
  const end = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (end.current === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, []);
  return { end, seen };
}
