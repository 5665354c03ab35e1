import type { ApprovalAnswer } from "../../api/types.js";
import { took, wholeTime } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { Glyph } from "../../ui/bits.js";
import { Exact } from "../../ui/exact.js";
import { toolIcon } from "../../ui/icon.js";
import { SessionName } from "../../ui/session-name.js";
import { Status } from "../../ui/status.js";
import { outcomeOf } from "./inbox.js";
import { WhatRuns } from "./what-runs.js";

/** A question that is over: what was asked, and what became of it. */
export function SettledCard({ question }: { readonly question: ApprovalAnswer }) {
  const { tone, word } = outcomeOf(question);
  const { answered_at, answered_by, answer_reason } = question;
  return (
    <article className="ask" aria-label="Settled question">
      <div className="lead">
        <Glyph icon={toolIcon(question.tool)} big />
        <div>
          <h2>
            <Exact text={question.reason} />
          </h2>
          <p>
            <b>{visibleLine(question.tool)}</b> in{question.conversation === undefined && " session"}{" "}
            <b>
              <SessionName {...question} />
            </b>
          </p>
        </div>
        <div className="clock">
          <Status tone={tone} word={word} pill />
        </div>
      </div>
      <WhatRuns question={question} />
      <dl className="facts">
        <div>
          <dt>Asked</dt>
          <dd>{wholeTime(question.created_at)}</dd>
        </div>
        <div>
          <dt>Answered</dt>
          <dd>
            {answered_at === undefined ? "not in time" : `after ${took(answered_at - question.created_at)}`}
          </dd>
        </div>
        <div>
          <dt>By</dt>
          <dd>{visibleLine(answered_by ?? "nobody")}</dd>
        </div>
        <div>
          <dt>Why</dt>
          <dd>{visibleLine(answer_reason ?? "–")}</dd>
        </div>
      </dl>
    </article>
  );
}
