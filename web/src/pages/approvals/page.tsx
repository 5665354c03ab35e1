import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, get, post } from "../../api/client.js";
import { approvalsQuery, infoQuery } from "../../api/queries.js";
import type { ApprovalAnswer, ApprovalGiven, ApprovalsAnswer } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";
import { PageFrame, type PageState } from "../../frame/page-frame.js";
import { useKeys } from "../../lib/keys.js";
import { visible } from "../../lib/visible.js";
import { go, pathTo, setQuery, usePlace } from "../../router.js";
import { ButtonLink } from "../../ui/button.js";
import { Segmented } from "../../ui/controls.js";
import { Empty, ErrorState, Skeleton, Strip } from "../../ui/states.js";
import type { Tone } from "../../ui/status.js";
import { HeldChanges } from "./changes.js";
import { Inbox, SettledRow } from "./inbox.js";
import { type Given, QuestionCard } from "./question-card.js";
import { SettledCard } from "./settled-card.js";
import "./approvals.css";

const SETTLED_BESIDE = 12;
const LOOK_AGAIN_MS = 5_000;

interface Note {
  readonly tone: Tone;
  readonly text: string;
}

const NO_KEY = "This browser may look, not answer. Open the address that hermes serve printed once more.";

export default function ApprovalsPage() {
  const { query } = usePlace();
  const show = query.show === "settled" ? "settled" : "open";
  const queryClient = useQueryClient();
  // Questions of other processes send no event here.
  const asked = useQuery({ ...approvalsQuery, refetchInterval: LOOK_AGAIN_MS });
  const open = (asked.data ?? []).toSorted((first, second) => first.expires_at - second.expires_at);
  const all = useQuery({
    queryKey: ["approvals", "all"],
    queryFn: async ({ signal }) => (await get<ApprovalsAnswer>("/v1/approvals?all=1", { signal })).approvals,
  });
  const settled = (all.data ?? []).filter(
    ({ status, answer }) => status !== "pending" || answer !== undefined,
  );
  const mayAnswer = useQuery(infoQuery).data?.keys.answers ?? true;
  const mayNot = mayAnswer ? undefined : NO_KEY;

  // Whoever reads a question keeps it, also when one comes that runs out sooner.
  const [kept, setKept] = useState<string>();
  const current =
    open.find(({ id }) => id === query.question) ?? open.find(({ id }) => id === kept) ?? open[0];
  useEffect(() => setKept(current?.id), [current?.id]);

  const [note, setNote] = useState<Note>();
  const own = useRef(new Set<string>());
  const currentRef = useRef<ApprovalAnswer>(undefined);
  currentRef.current = current;
  useEvents((event) => {
    const shown = currentRef.current;
    if (shown === undefined || event.type !== "approval.settled" || event.id !== shown.id) return;
    if (own.current.has(shown.id)) return;
    setNote(
      event.status === "expired"
        ? { tone: "timeout", text: `${shown.tool}: nobody answered in time, so it was denied.` }
        : {
            tone: "unknown",
            text: `${shown.tool}: answered elsewhere${typeof event.answer === "string" ? ` (${event.answer})` : ""}.`,
          },
    );
  });

  const answer = useMutation({
    mutationFn: ({ question, given }: { readonly question: ApprovalAnswer; readonly given: Given }) => {
      own.current.add(question.id);
      const body: ApprovalGiven = {
        id: question.id,
        hash: question.hash,
        signature: question.signature,
        ...given,
      };
      return post<ApprovalAnswer>("/v1/approvals", body);
    },
    onSuccess: (_record, { question, given }) =>
      setNote(
        given.answer === "deny"
          ? { tone: "denied", text: `${question.tool}: denied. Nothing ran.` }
          : {
              tone: "ok",
              text: `${question.tool}: approved ${given.answer === "session" ? "for the session" : given.answer}.`,
            },
      ),
    onError: (error, { question }) => {
      own.current.delete(question.id);
      const isLate = error instanceof ApiError && error.status === 409;
      const hint = error instanceof ApiError ? (error.hint ?? "") : "";
      setNote({
        tone: isLate ? "unknown" : "error",
        text: `${isLate ? "Answered elsewhere. " : "Not answered. "}${error.message} ${hint}`,
      });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["approvals"] }),
  });

  const shownSettled = settled.find(({ id }) => id === query.question) ?? settled[0];
  const step = (by: 1 | -1) => {
    const list = show === "open" ? open : settled;
    const at = list.findIndex(({ id }) => id === (show === "open" ? current : shownSettled)?.id);
    const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
    if (next !== undefined) setQuery({ question: next.id });
  };
  useKeys({ j: () => step(1), k: () => step(-1) });

  const isEmpty = show === "open" ? open.length === 0 : settled.length === 0;
  const source = show === "open" ? asked : all;
  const state: PageState =
    source.data === undefined ? (source.isError ? "error" : "loading") : isEmpty ? "empty" : "ready";
  return (
    <PageFrame
      title="Approvals"
      state={state}
      fact={
        <span>
          {open.length === 0
            ? "Nothing waits"
            : open.length === 1
              ? "1 waits for you"
              : `${open.length} wait for you`}
          <span className="opt"> · silence denies</span>
        </span>
      }
      controls={
        <>
          <ButtonLink
            look="plain"
            icon="permissions"
            href={pathTo("permissions", { query: { tab: "grants" } })}
          >
            Grants
          </ButtonLink>
          <Segmented
            label="Show"
            value={show}
            options={[
              { value: "open", label: "Open" },
              { value: "settled", label: "Settled" },
            ]}
            onChange={(value) =>
              go(pathTo("approvals", { query: { show: value === "settled" ? "settled" : undefined } }))
            }
          />
        </>
      }
    >
      <HeldChanges mayNot={mayNot} />
      {mayNot !== undefined && (
        <Strip tone="timeout" icon="info">
          {mayNot}
        </Strip>
      )}
      <div aria-live="polite">
        {note !== undefined && (
          <Strip
            tone={note.tone}
            icon={
              note.tone === "ok"
                ? "s-ok"
                : note.tone === "denied"
                  ? "s-denied"
                  : note.tone === "error"
                    ? "s-error"
                    : "info"
            }
          >
            {visible(note.text)}
          </Strip>
        )}
      </div>
      {state === "loading" && <Skeleton />}
      {state === "error" && (
        <ErrorState
          title="The questions could not be read"
          error={source.error}
          stillWorks="What waits is denied when its time runs out; answer in a terminal with: hermes approvals list"
          onRetry={() => void source.refetch()}
          busy={source.isFetching}
        />
      )}
      {(state === "ready" || (state === "empty" && settled.length > 0)) && (
        <div className="split stack">
          <section className="inbox" aria-label="Questions">
            {show === "open" && open.length > 0 && <Inbox open={open} current={current?.id} />}
            {settled.length > 0 && (
              <>
                <h2>Settled</h2>
                <ol>
                  {(show === "open" ? settled.slice(0, SETTLED_BESIDE) : settled).map((question) => (
                    <li key={question.id}>
                      <SettledRow
                        question={question}
                        isCurrent={show === "settled" && question.id === shownSettled?.id}
                      />
                    </li>
                  ))}
                </ol>
              </>
            )}
          </section>
          <div className="scroll grow" tabIndex={0} role="group" aria-label="Question">
            {show === "open" && current !== undefined && (
              <QuestionCard
                key={current.id}
                question={current}
                mayNot={mayNot}
                busy={answer.isPending}
                takesFocus={!isElsewhere()}
                onAnswer={(given) => answer.mutate({ question: current, given })}
              />
            )}
            {show === "open" && current === undefined && <NothingWaits />}
            {show === "settled" && shownSettled !== undefined && (
              <SettledCard key={shownSettled.id} question={shownSettled} />
            )}
          </div>
        </div>
      )}
      {state === "empty" && settled.length === 0 && <NothingWaits />}
    </PageFrame>
  );
}

/** Somebody who types, or is in a dialog, is not torn away. */
function isElsewhere(): boolean {
  return document.activeElement?.closest("input, textarea, [role=dialog]") != null;
}

function NothingWaits() {
  return (
    <Empty
      icon="approvals"
      title="Nothing waits for you"
      command="npx hermes call terminal --command 'rm -rf /tmp/hermes-example' < /dev/null"
    >
      A call that needs a yes and has no terminal to ask on shows up here, with what it would do. Try one:
    </Empty>
  );
}
