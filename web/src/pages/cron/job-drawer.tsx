import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post } from "../../api/client.js";
import type { CronChanged, CronRunsAnswer, JobAnswer } from "../../api/types.js";
import { plural, took, wholeTime } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Ago, Chip, Code, Glyph } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Drawer, Section } from "../../ui/drawer.js";
import { Icon } from "../../ui/icon.js";
import { JsonView } from "../../ui/json-view.js";
import { Notice } from "../../ui/notice.js";
import { Skeleton } from "../../ui/states.js";
import { Status } from "../../ui/status.js";
import { stateLook, statusTone } from "./job-text.js";

type Action = "run" | "pause" | "resume" | "remove";
const DONE: Readonly<Record<Action, string>> = {
  run: "It runs now.",
  pause: "Paused: it does not run until you resume it.",
  resume: "It runs at its times again.",
  remove: "Removed.",
};

export function JobDrawer(props: {
  readonly job: JobAnswer;
  readonly onClose: () => void;
  readonly onStep: (step: 1 | -1) => void;
}) {
  const { job } = props;
  const client = useQueryClient();
  const path = `/v1/cron/${encodeURIComponent(job.job_id)}`;
  const [isSure, setSure] = useState(false);
  const act = useMutation({
    mutationFn: (action: Action) => post<CronChanged>(path, { action }),
    onSuccess: async (_answer, action) => {
      if (action === "remove") props.onClose();
      await client.invalidateQueries({ queryKey: ["cron"] });
    },
  });
  const runs = useQuery<CronRunsAnswer>({
    queryKey: ["cron", "runs", job.job_id],
    // Of a job that is being removed there may be none left to ask for.
    enabled: act.variables !== "remove" || act.isError,
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ ended_at }) => ended_at === null) === true ? 1_000 : 15_000,
    queryFn: ({ signal }) => get<CronRunsAnswer>(`${path}/runs`, { signal }),
  });
  const isPaused = job.state === "paused";
  const busy = (action: Action) => act.isPending && act.variables === action;
  return (
    <Drawer
      label={`Job ${visibleLine(job.name)}`}
      of={job.job_id}
      crumbs={<code>{job.job_id}</code>}
      onClose={props.onClose}
      onStep={props.onStep}
      head={
        <>
          <div className="headline">
            <Glyph icon="cron" />
            <h2 className="cut">{visibleLine(job.name === "" ? job.job_id : job.name)}</h2>
            <Status {...stateLook(job.state)} pill />
          </div>
          <div className="actions">
            <Button icon="play" busy={busy("run")} onClick={() => act.mutate("run")}>
              Run now
            </Button>
            <Button
              icon={isPaused ? "play" : "pause"}
              busy={busy("pause") || busy("resume")}
              onClick={() => act.mutate(isPaused ? "resume" : "pause")}
            >
              {isPaused ? "Resume" : "Pause"}
            </Button>
            <Button
              look="plain"
              icon="trash"
              busy={busy("remove")}
              onClick={() => (isSure ? act.mutate("remove") : setSure(true))}
              onBlur={() => setSure(false)}
            >
              {isSure ? "Really remove" : "Remove"}
            </Button>
          </div>
          <Notice error={act.error}>
            {act.data !== undefined && (act.data.note ?? DONE[act.variables ?? "run"])}
          </Notice>
        </>
      }
    >
      <Section title="When">
        <dl className="job-facts">
          <Fact name="Schedule" value={job.schedule_display} />
          <Fact
            name="Next run"
            value={job.next_run_at === null ? "none" : wholeTime(Date.parse(job.next_run_at))}
          />
          <Fact
            name="Scheduled runs"
            value={`${job.runs}${job.repeat === undefined ? "" : ` of ${job.repeat}`}`}
          />
          <Fact name="Folder" value={job.workdir} />
          <Fact name="Tells" value={job.deliver} />
          <Fact name="Profile" value={job.profile} />
          <Fact name="Runs in" value={job.environment} />
          <Fact
            name="Time limit"
            value={job.time_limit === undefined ? undefined : took(job.time_limit * 1_000)}
          />
        </dl>
        {job.late !== undefined && (
          <p className="notice" data-st="timeout">
            <Icon name="s-timeout" size="s" />
            <span>{visible(job.late)}</span>
          </p>
        )}
      </Section>
      <Section
        title="What"
        end={job.tool_call !== undefined ? "a call" : job.script !== undefined ? "a script" : "a prompt"}
      >
        {job.tool_call !== undefined ? (
          <>
            <p className="job-tool">
              <Chip mono>{visibleLine(job.tool_call.name)}</Chip>
            </p>
            <JsonView value={job.tool_call.arguments} label="Arguments" />
          </>
        ) : (
          <Code wrap label="What runs">
            {visible(job.script ?? job.prompt ?? "")}
          </Code>
        )}
      </Section>
      <Section title="Runs" end={runs.data === undefined ? undefined : plural(runs.data.runs.length, "run")}>
        {runs.data === undefined ? (
          runs.isError ? (
            <Notice error={runs.error} />
          ) : (
            <Skeleton rows={3} />
          )
        ) : runs.data.runs.length === 0 ? (
          <p className="quiet">It has not run yet.</p>
        ) : (
          <ol className="job-runs">
            {runs.data.runs.map((run) => (
              <Run key={run.run_id} run={run} />
            ))}
          </ol>
        )}
      </Section>
    </Drawer>
  );
}

function Run({ run }: { readonly run: CronRunsAnswer["runs"][number] }) {
  const at = run.started_at ?? run.due_at;
  const started = run.started_at === null ? undefined : Date.parse(run.started_at);
  const ended = run.ended_at === null ? undefined : Date.parse(run.ended_at);
  const line = (
    <>
      <Status tone={statusTone(run.status)} word={run.status} calm />
      <span className="cut grow soft">{visibleLine(run.summary)}</span>
      <span className="quiet tab">
        {started !== undefined && ended !== undefined && took(ended - started)}
        {at !== null && (
          <>
            {" "}
            · <Ago at={Date.parse(at)} />
          </>
        )}
      </span>
    </>
  );
  if (run.output === null && run.summary.length < 60) return <li className="line">{line}</li>;
  return (
    <li>
      <details>
        <summary className="line">{line}</summary>
        <Code wrap label="What came of it">
          {visible(run.output ?? run.summary)}
        </Code>
      </details>
    </li>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  if (value === undefined || value === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd className="cut" title={visibleLine(value)}>
        {visibleLine(value)}
      </dd>
    </div>
  );
}
