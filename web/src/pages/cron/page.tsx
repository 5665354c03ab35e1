import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { get } from "../../api/client.js";
import type { CronJobsAnswer, JobAnswer } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useNow } from "../../lib/now.js";
import { setQuery, usePlace } from "../../router.js";
import { Ago, Cut } from "../../ui/bits.js";
import { FilterField } from "../../ui/controls.js";
import { List, type ListColumn } from "../../ui/list.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status } from "../../ui/status.js";
import { JobDrawer } from "./job-drawer.js";
import { stateLook, statusTone, untilText, whatText } from "./job-text.js";
import "./cron.css";

/** Jobs of another process send no events here. */
const LOOK_AGAIN_MS = 15_000;

const COLUMNS: readonly ListColumn<JobAnswer>[] = [
  {
    key: "state",
    title: "State",
    className: "c-st",
    cell: ({ state }) => <Status {...stateLook(state)} calm />,
  },
  {
    key: "name",
    title: "Job",
    className: "c-name",
    cell: (job) => (
      <>
        <Cut className="name" text={job.name === "" ? job.job_id : job.name} />
        <Cut mono className="quiet what" text={whatText(job)} />
      </>
    ),
  },
  {
    key: "schedule",
    title: "Schedule",
    className: "c-schedule wide soft",
    cell: (job) => <Cut text={job.schedule_display} />,
  },
  { key: "next", title: "Next run", className: "c-next", cell: (job) => <NextRun job={job} /> },
  {
    key: "last",
    title: "Last run",
    className: "c-last wide",
    cell: ({ last_run: last }) =>
      last === undefined ? (
        <span className="quiet">never</span>
      ) : (
        <span className="row-flex">
          <Status tone={statusTone(last.status)} word={last.status} calm />
          <span className="quiet">
            <Ago at={Date.parse(last.at)} />
          </span>
        </span>
      ),
  },
];

export default function CronPage() {
  const { query } = usePlace();
  const words = (query.q ?? "").toLowerCase();
  const asked = useQuery({
    queryKey: ["cron", "jobs"],
    refetchInterval: LOOK_AGAIN_MS,
    queryFn: ({ signal }) => get<CronJobsAnswer>("/v1/cron", { signal }),
  });
  const jobs = asked.data?.jobs ?? [];
  const shown = jobs.filter((job) =>
    `${job.name} ${job.job_id} ${job.schedule} ${whatText(job)}`.toLowerCase().includes(words),
  );
  const selected = jobs.find(({ job_id }) => job_id === query.job);
  const open = useCallback((job: JobAnswer) => setQuery({ job: job.job_id }), []);
  const close = () => setQuery({ job: undefined });
  const step = (by: 1 | -1) => {
    const at = selected === undefined ? -1 : shown.indexOf(selected);
    const next = shown[selected === undefined ? 0 : at + by];
    if (next !== undefined) open(next);
  };
  useKeys({ j: () => step(1), k: () => step(-1), Escape: close });
  const paused = jobs.filter(({ state }) => state === "paused").length;
  return (
    <PageFrame
      title="Cron"
      state={stateOf(asked, jobs.length === 0)}
      fact={
        asked.data === undefined
          ? undefined
          : `${plural(jobs.length, "job")}${paused > 0 ? `, ${paused} paused` : ""}`
      }
    >
      {asked.data === undefined ? (
        asked.isError ? (
          <ErrorState
            title="The jobs could not be read"
            error={asked.error}
            stillWorks="Jobs still run at their times."
            onRetry={() => void asked.refetch()}
            busy={asked.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : jobs.length === 0 ? (
        <Empty
          icon="cron"
          title="No jobs yet"
          command='hermes cron add "every 2h" --name disk --script "df -h /"'
        >
          What runs at its times is listed here, with what became of each run. Make one:
        </Empty>
      ) : (
        <div className="split">
          <div className="pane">
            <div className="filters">
              <FilterField
                label="Find a job"
                placeholder="Find a job"
                value={query.q ?? ""}
                onChange={(value) => setQuery({ q: value === "" ? undefined : value })}
              />
            </div>
            {shown.length === 0 ? (
              <Empty icon="filter" title="No job has these words" />
            ) : (
              <List
                label="Jobs"
                layout="job"
                rowHeight={54}
                rows={shown}
                columns={COLUMNS}
                keyOf={({ job_id }) => job_id}
                selected={query.job}
                onOpen={open}
              />
            )}
          </div>
          {selected !== undefined && (
            <JobDrawer key={selected.job_id} job={selected} onClose={close} onStep={step} />
          )}
        </div>
      )}
    </PageFrame>
  );
}

function NextRun({ job }: { readonly job: JobAnswer }) {
  const now = useNow();
  if (job.next_run_at === null) return <span className="quiet">–</span>;
  return (
    <span className="next">
      <time dateTime={job.next_run_at}>{untilText(Date.parse(job.next_run_at), now)}</time>
      {job.late !== undefined && <Status tone="timeout" word="late" />}
    </span>
  );
}
