import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { approvalsQuery } from "../../api/queries.js";
import type { ApprovalAnswer, BriefCall } from "../../api/types.js";
import { PageFrame, type PageState } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useNow } from "../../lib/now.js";
import { go, pathTo, setQuery, usePlace } from "../../router.js";
import { Button } from "../../ui/button.js";
import { FilterTabs, Segmented } from "../../ui/controls.js";
import { List, type ListHandle } from "../../ui/list.js";
import { ErrorState, Skeleton } from "../../ui/states.js";
import { toneOf } from "../../ui/status.js";
import { CallDrawer } from "./call-drawer.js";
import { idOf, type LiveCall } from "./calls-store.js";
import { callColumns } from "./columns.js";
import { Filter } from "./filter.js";
import { countTabs, filterFrom, isInTab, type StatusTab, statusesOf } from "./filters.js";
import { Histogram } from "./histogram.js";
import { NoCalls } from "./no-calls.js";
import { flatRows, type TreeRow, treeRows } from "./tree.js";
import { useCalls } from "./use-calls.js";
import "./live.css";

const TABS = [
  { value: "all", label: "All" },
  { value: "running", label: "Running", icon: "s-running", tone: "running" },
  { value: "asked", label: "Asked", icon: "s-asked", tone: "asked" },
  { value: "error", label: "Failed", icon: "s-error", tone: "error" },
  { value: "denied", label: "Denied", icon: "s-denied", tone: "denied" },
] as const;

export default function LivePage() {
  const { query } = usePlace();
  const tab = (query.status ?? "all") as StatusTab;
  const view = query.view === "flat" ? "flat" : "tree";
  const filter = useMemo(() => filterFrom(query), [query]);
  const { store, calls: known, waiting, pages, journal, completeSince } = useCalls(filter, statusesOf(tab));
  const [paused, setPaused] = useState(false);
  const [isAtTop, setAtTop] = useState(true);
  const list = useRef<ListHandle>(null);
  useEffect(() => store.hold(paused || !isAtTop), [store, paused, isAtTop]);

  const questions = useQuery(approvalsQuery).data;
  const { asked, all: calls } = useMemo(() => withQuestions(known, questions ?? []), [known, questions]);
  const counts = useMemo(() => countTabs(calls, asked), [calls, asked]);
  const questionOf = useCallback((call: LiveCall) => asked.get(call.key), [asked]);
  const shown = useMemo(
    () => (tab === "all" ? calls : calls.filter((call) => isInTab(call, tab, asked.has(call.key)))),
    [calls, tab, asked],
  );

  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = useCallback((key: string) => folds.get(key) ?? false, [folds]);
  const toggle = useCallback(
    (key: string) => setFolds((now) => new Map(now).set(key, !(now.get(key) ?? false))),
    [],
  );
  const rows = useMemo(
    () => (view === "flat" || tab !== "all" ? flatRows(shown) : treeRows(shown, isOpen)),
    [shown, view, tab, isOpen],
  );
  const columns = useMemo(
    () => callColumns({ questionOf, isOpen, onToggle: toggle }),
    [questionOf, isOpen, toggle],
  );

  const selected = query.call;
  const selectedRow = rows.find(({ call }) => isSelected(call, selected));
  const open = useCallback(
    (row: TreeRow) => {
      const question = questionOf(row.call);
      if (question?.id === row.call.call_id) go(pathTo("approvals", { query: { question: question.id } }));
      else setQuery({ call: idOf(row.call) });
    },
    [questionOf],
  );
  const step = (by: 1 | -1) => {
    const at = selectedRow === undefined ? -1 : rows.indexOf(selectedRow);
    const next = rows[selectedRow === undefined ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next !== undefined) open(next);
  };
  const close = () => setQuery({ call: undefined });
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    " ": () => setPaused((now) => !now),
    Escape: close,
  });

  const { fetchNextPage, hasNextPage, isFetchingNextPage } = pages;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const showNew = () => {
    store.release();
    list.current?.scrollToTop();
    setPaused(false);
  };

  const isFiltered = tab !== "all" || Object.keys(filter).length > 0;
  const isLoading = pages.data === undefined && !pages.isError && calls.length === 0;
  const state: PageState = isLoading
    ? "loading"
    : pages.isError && calls.length === 0
      ? "error"
      : rows.length === 0
        ? "empty"
        : "ready";
  return (
    <PageFrame
      title="Live"
      state={state}
      fact={<Rate calls={calls} paused={paused} />}
      controls={
        <>
          <span className="opt">
            <Segmented
              label="View"
              value={view}
              options={[
                { value: "tree", label: "Tree" },
                { value: "flat", label: "Flat" },
              ]}
              onChange={(value) => setQuery({ view: value === "flat" ? "flat" : undefined })}
            />
          </span>
          <Button
            icon={paused ? "play" : "pause"}
            keys="Space"
            aria-pressed={paused}
            onClick={() => setPaused(!paused)}
          >
            {paused ? "Go on" : "Pause"}
          </Button>
        </>
      }
    >
      <div className="split">
        <section className="pane" aria-label="Calls">
          <Filter />
          <FilterTabs
            label="Status"
            value={tab}
            options={TABS.map((option) => ({
              ...option,
              count: counts[option.value] ?? 0,
            }))}
            onChange={(value) => setQuery({ status: value === "all" ? undefined : value })}
          />
          <LiveHistogram calls={shown} asked={asked} since={completeSince} />
          <div className="list-place">
            {waiting > 0 && (
              <button type="button" className="new-pill" onClick={showNew}>
                {plural(waiting, "new", "new")}
              </button>
            )}
            {state === "loading" && <Skeleton rows={12} />}
            {state === "error" && (
              <ErrorState
                title="The calls could not be read"
                error={pages.error}
                stillWorks="Calls still run; only this list is missing."
                onRetry={() => void pages.refetch()}
                busy={pages.isFetching}
              />
            )}
            {state === "empty" && <NoCalls journal={journal} isFiltered={isFiltered} />}
            {state === "ready" && (
              <List
                label="Calls"
                layout="calls"
                rows={rows}
                columns={columns}
                keyOf={({ key }) => key}
                selected={selectedRow?.key}
                onOpen={open}
                levelOf={({ level }) => level}
                isOpen={(row) => (row.inside > 0 ? isOpen(row.key) : undefined)}
                onToggle={(row) => toggle(row.key)}
                toneOf={({ call }) => (asked.has(call.key) ? "asked" : toneOf(call.status))}
                onEnd={onEnd}
                onScrolledToTop={setAtTop}
                handle={list}
                end={
                  rows.length > 30 && (
                    <p className="list-end">
                      {isFetchingNextPage
                        ? "Older calls are on their way"
                        : hasNextPage
                          ? ""
                          : "These are all calls that are kept."}
                    </p>
                  )
                }
              />
            )}
          </div>
        </section>
        {selected !== undefined && (
          <CallDrawer
            id={selected}
            brief={selectedRow?.call}
            question={selectedRow && questionOf(selectedRow.call)}
            onClose={close}
            onStep={step}
          />
        )}
      </div>
    </PageFrame>
  );
}

function isSelected(call: BriefCall, selected: string | undefined): boolean {
  return selected !== undefined && (String(call.seq) === selected || call.call_id === selected);
}

/** A call that asked before this page was open is in no journal yet, so its question stands for it. */
function withQuestions(
  calls: readonly LiveCall[],
  questions: readonly ApprovalAnswer[],
): { readonly asked: ReadonlyMap<string, ApprovalAnswer>; readonly all: readonly LiveCall[] } {
  const asked = new Map<string, ApprovalAnswer>();
  if (questions.length === 0) return { asked, all: calls };
  const running = calls.filter((call) => call.status === "running");
  const standIns: LiveCall[] = [];
  for (const question of questions.toSorted((a, b) => a.created_at - b.created_at)) {
    const call =
      running.findLast(
        (one) =>
          one.session_id === question.session && one.call_id === question.call_id && !asked.has(one.key),
      ) ?? standIn(question);
    asked.set(call.key, question);
    if (call.call_id === question.id) standIns.push(call);
  }
  const all = [...standIns, ...calls].sort((first, second) => second.started_at - first.started_at);
  return { asked, all: standIns.length === 0 ? calls : all };
}

function standIn(question: ApprovalAnswer): LiveCall {
  return {
    key: question.id,
    seq: 0,
    call_id: question.id,
    session_id: question.session,
    conversation: question.conversation,
    tool: question.tool,
    door: question.door,
    environment: question.environment,
    status: "running",
    started_at: question.created_at,
    decision: "ask",
    rule: question.rule,
    preview: question.what,
  };
}

function Rate(props: { readonly calls: readonly LiveCall[]; readonly paused: boolean }) {
  const since = useNow() - 60_000;
  const many = props.calls.findIndex((call) => call.started_at < since);
  const rate = many < 0 ? props.calls.length : many;
  return (
    <>
      <i className={props.paused ? "pulse still" : "pulse"} />
      {props.paused ? "Paused" : `${plural(rate, "call")} a minute`}
    </>
  );
}

function LiveHistogram(props: Omit<Parameters<typeof Histogram>[0], "now">) {
  return <Histogram {...props} now={useNow()} />;
}
