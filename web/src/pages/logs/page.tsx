import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LogLine } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { clock, plural, wholeTime } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { Code, CopyButton, Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { FilterField, FilterTabs } from "../../ui/controls.js";
import { Drawer, Section } from "../../ui/drawer.js";
import { List, type ListColumn, type ListHandle } from "../../ui/list.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status, type Tone } from "../../ui/status.js";
import { useLogs } from "./use-logs.js";
import "./logs.css";

const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];
const LOOKS: Readonly<Record<Level, { readonly tone: Tone; readonly word: string }>> = {
  debug: { tone: "cancelled", word: "debug" },
  info: { tone: "ok", word: "info" },
  warn: { tone: "setup", word: "warning" },
  error: { tone: "error", word: "error" },
};

const COLUMNS: readonly ListColumn<LogLine>[] = [
  {
    key: "time",
    title: "Time",
    className: "c-time quiet tab",
    cell: ({ at }) => <time title={wholeTime(at)}>{clock(at)}</time>,
  },
  { key: "level", title: "Level", className: "c-level", cell: ({ level }) => <LevelMark level={level} /> },
  { key: "text", title: "Text", className: "c-text", cell: ({ text }) => <Cut mono text={text} /> },
];

function LevelMark({ level }: { readonly level: Level }) {
  const { tone, word } = LOOKS[level];
  return level === "debug" || level === "info" ? (
    <span className="quiet">{word}</span>
  ) : (
    <Status tone={tone} word={word} />
  );
}

export default function LogsPage() {
  const { query } = usePlace();
  const words = query.q ?? "";
  const least = LEVELS.find((known) => known === query.level) ?? "debug";
  const [paused, setPaused] = useState(false);
  const [isAtTop, setAtTop] = useState(true);
  const held = paused || !isAtTop;
  const { pages, lines, waiting, release } = useLogs(held);
  const list = useRef<ListHandle>(null);
  const latestRelease = useRef(release);
  latestRelease.current = release;
  useEffect(() => {
    if (!held) latestRelease.current();
  }, [held]);
  const shown = useMemo(() => {
    const wanted = words.toLowerCase();
    const from = LEVELS.indexOf(least);
    return lines.filter(
      ({ level, text }) => LEVELS.indexOf(level) >= from && text.toLowerCase().includes(wanted),
    );
  }, [lines, words, least]);
  const selected = lines.find(({ seq }) => String(seq) === query.line);
  const open = useCallback((line: LogLine) => setQuery({ line: String(line.seq) }), []);
  const step = (by: 1 | -1) => {
    const at = selected === undefined ? -1 : shown.indexOf(selected);
    const next = shown[selected === undefined ? 0 : at + by];
    if (next !== undefined) open(next);
  };
  const close = () => setQuery({ line: undefined });
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
  const dropped = pages.data?.pages.at(-1)?.dropped === true && !hasNextPage;
  const number = (level: Level) => lines.filter((line) => line.level === level).length;
  return (
    <PageFrame
      title="Logs"
      state={stateOf(pages, shown.length === 0)}
      fact={
        <>
          <span className={paused ? "pulse still" : "pulse"} />
          {paused ? "paused" : plural(lines.length, "line")}
        </>
      }
      controls={
        <Button icon={paused ? "play" : "pause"} keys="Space" onClick={() => setPaused((now) => !now)}>
          {paused ? "Go on" : "Pause"}
        </Button>
      }
    >
      <div className="split">
        <div className="pane">
          <div className="filters">
            <FilterField
              label="Filter lines"
              placeholder="words in the line …"
              value={words}
              onChange={(value) => setQuery({ q: value === "" ? undefined : value })}
            />
          </div>
          <div className="log-levels">
            <FilterTabs<Level>
              label="Level, and graver ones"
              value={least}
              options={[
                { value: "debug", label: "All", count: lines.length },
                { value: "info", label: "Info and above" },
                { value: "warn", label: "Warnings", count: number("warn"), icon: "warn", tone: "setup" },
                { value: "error", label: "Errors", count: number("error"), icon: "s-error", tone: "error" },
              ]}
              onChange={(value) => setQuery({ level: value === "debug" ? undefined : value })}
            />
          </div>
          {waiting > 0 && (
            <button
              type="button"
              className="new-lines"
              onClick={() => {
                release();
                setPaused(false);
                list.current?.scrollToTop();
              }}
            >
              {waiting} new
            </button>
          )}
          {pages.data === undefined ? (
            pages.isError ? (
              <ErrorState
                title="The log could not be read"
                error={pages.error}
                onRetry={() => void pages.refetch()}
                busy={pages.isFetching}
              />
            ) : (
              <Skeleton />
            )
          ) : shown.length === 0 ? (
            lines.length === 0 ? (
              <Empty icon="logs" title="Nothing was logged yet">
                What the server has to say shows up here the moment it says it.
              </Empty>
            ) : (
              <Empty
                icon="filter"
                title="No line matches"
                action={
                  <Button onClick={() => setQuery({ q: undefined, level: undefined })}>Show all</Button>
                }
              />
            )
          ) : (
            <List
              label="Log lines, newest first"
              layout="log"
              rows={shown}
              columns={COLUMNS}
              keyOf={({ seq }) => String(seq)}
              selected={query.line}
              onOpen={open}
              onEnd={onEnd}
              onScrolledToTop={setAtTop}
              handle={list}
              toneOf={({ level }) => (level === "error" ? "error" : undefined)}
              end={dropped && <p className="quiet log-end">Earlier lines are no longer kept.</p>}
            />
          )}
        </div>
        {selected !== undefined && (
          <Drawer
            label="Log line"
            of={String(selected.seq)}
            crumbs={<span>Log of the server</span>}
            head={
              <>
                <div className="headline">
                  <h2>Line {selected.seq}</h2>
                  <Status {...LOOKS[selected.level]} pill />
                  <span className="quiet">{wholeTime(selected.at)}</span>
                </div>
                <div className="actions">
                  <CopyButton text={selected.text} label="Copy text" />
                </div>
              </>
            }
            onClose={close}
            onStep={step}
          >
            <Section title="Text">
              <Code wrap>{visible(selected.text)}</Code>
            </Section>
          </Drawer>
        )}
      </div>
    </PageFrame>
  );
}
