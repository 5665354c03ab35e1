import { useQuery } from "@tanstack/react-query";
import { processesQuery } from "../../api/queries.js";
import type { ProcessAnswer } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { age, plural, took } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useNow } from "../../lib/now.js";
import { visibleLine } from "../../lib/visible.js";
import { go, pathTo, usePlace } from "../../router.js";
import { Ago, Cut } from "../../ui/bits.js";
import { Link } from "../../ui/link.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status, type Tone } from "../../ui/status.js";
import { ProcessDetail } from "./process-detail.js";
import "./processes.css";

export default function ProcessesPage() {
  const { query } = usePlace();
  const listed = useQuery(processesQuery);
  const all = [...(listed.data ?? [])].sort(newestFirst);
  const running = all.filter(({ status }) => status === "running");
  const ended = all.filter(({ status }) => status !== "running");
  const ordered = [...running, ...ended];
  const shown = ordered.find(({ id }) => id === query.id) ?? ordered[0];
  const pick = (step: number) => {
    const at = ordered.findIndex(({ id }) => id === shown?.id);
    const next = ordered[Math.min(ordered.length - 1, Math.max(0, at + step))];
    if (next !== undefined) go(pathTo("processes", { query: { id: next.id } }), { replace: true });
  };
  useKeys({
    j: () => pick(1),
    k: () => pick(-1),
    Escape: () => query.id !== undefined && go(pathTo("processes")),
  });
  return (
    <PageFrame
      title="Processes"
      state={stateOf(listed, all.length === 0)}
      fact={
        listed.data === undefined
          ? undefined
          : `${plural(running.length, "process", "processes")} running${ended.length > 0 ? ` · ${ended.length} ended` : ""}`
      }
    >
      {listed.data === undefined ? (
        listed.isError ? (
          <ErrorState
            title="The processes could not be listed"
            error={listed.error}
            stillWorks="They run on."
            onRetry={() => void listed.refetch()}
            busy={listed.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : shown === undefined ? (
        <Empty
          icon="processes"
          title="Nothing runs in the background"
          command={`hermes call terminal '{"command":"npm run dev","background":true}'`}
        >
          Servers, watchers and long builds that an agent or a call of this server started show up here with a
          live terminal.
        </Empty>
      ) : (
        <div className={query.id === undefined ? "split procs" : "split procs with-item"}>
          <nav className="rail" aria-label="Background processes">
            <div className="scroll" tabIndex={-1}>
              <Group title="Running" processes={running} shown={shown.id} />
              <Group title="Ended" processes={ended} shown={shown.id} />
            </div>
          </nav>
          <ProcessDetail key={shown.id} process={shown} />
        </div>
      )}
    </PageFrame>
  );
}

function newestFirst(one: ProcessAnswer, other: ProcessAnswer): number {
  return (other.ended_at ?? other.started_at) - (one.ended_at ?? one.started_at);
}

function Group(props: {
  readonly title: string;
  readonly processes: readonly ProcessAnswer[];
  readonly shown: string;
}) {
  if (props.processes.length === 0) return null;
  return (
    <section aria-label={props.title}>
      <h2 className="rail-head">
        {props.title} <span>{props.processes.length}</span>
      </h2>
      {props.processes.map((process) => (
        <Link
          key={process.id}
          className="proc"
          href={pathTo("processes", { query: { id: process.id } })}
          aria-current={process.id === props.shown ? "page" : undefined}
        >
          <span className="row-flex">
            <ProcessStatus process={process} />
            <span className="quiet end">
              {process.status === "running" ? (
                <Running since={process.started_at} />
              ) : (
                <Ago at={process.ended_at ?? process.started_at} />
              )}
            </span>
          </span>
          <Cut mono text={process.command} />
          <span className="quiet cut">
            {visibleLine(process.id)} · {visibleLine(process.environment)}
          </span>
        </Link>
      ))}
    </section>
  );
}

function Running({ since }: { readonly since: number }) {
  return <>{age(since, useNow())}</>;
}

const KILLED = -15;

export function ProcessStatus(props: { readonly process: ProcessAnswer; readonly pill?: boolean }) {
  const { status, exit_code } = props.process;
  const [tone, word]: readonly [Tone, string] =
    status === "running"
      ? ["running", "running"]
      : status === "lost"
        ? ["unknown", "lost"]
        : exit_code === 0
          ? ["ok", "exited"]
          : exit_code === KILLED
            ? ["cancelled", "killed"]
            : ["error", `exit ${exit_code ?? "?"}`];
  return <Status tone={tone} word={word} calm pill={props.pill === true} />;
}

export function ranFor(process: ProcessAnswer, now: number): string {
  return took(Math.max(0, (process.ended_at ?? now) - process.started_at));
}
