import { type UseMutationResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client.js";
import { approvalsQuery } from "../../api/queries.js";
import type { RunAnswer, ToolListing } from "../../api/types.js";
import { bytes, took } from "../../lib/format.js";
import { gistOfText } from "../../lib/gist.js";
import { useNow } from "../../lib/now.js";
import { visible } from "../../lib/visible.js";
import { pathTo } from "../../router.js";
import { Ago, Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Link } from "../../ui/link.js";
import { Question } from "../../ui/question.js";
import { ResultBody } from "../../ui/result.js";
import { Status, type Tone, toneOf } from "../../ui/status.js";
import { callsQuery } from "./queries.js";

type Run = UseMutationResult<RunAnswer, Error, Readonly<Record<string, unknown>>>;

export function Result({ tool, run }: { readonly tool: ToolListing; readonly run: Run }) {
  return (
    <div className="result">
      <section className="result-now" aria-label="Result" aria-live="polite" aria-busy={run.isPending}>
        {run.isPending ? (
          <Running tool={tool} since={run.submittedAt} />
        ) : run.error !== null ? (
          <Refused
            error={run.error}
            onRetry={() => run.variables !== undefined && run.mutate(run.variables)}
          />
        ) : run.data !== undefined ? (
          <Came result={run.data.result} args={run.variables} />
        ) : (
          <p className="hint">What the tool gives comes here.</p>
        )}
      </section>
      <Earlier tool={tool} />
    </div>
  );
}

function Running(props: { readonly tool: ToolListing; readonly since: number }) {
  const now = useNow();
  const [began] = useState(() => props.since);
  const asked = (useQuery(approvalsQuery).data ?? []).filter(
    (one) => one.tool === props.tool.name && one.created_at >= began - 1_000,
  );
  return (
    <>
      <header>
        <Status tone={asked.length > 0 ? "asked" : "running"} pill />
        <span className="quiet tab">{took(Math.max(0, now - began))}</span>
      </header>
      {asked.map((one) => (
        <Question key={one.id} asked={one} />
      ))}
    </>
  );
}

function Refused(props: { readonly error: Error; readonly onRetry: () => void }) {
  const { error } = props;
  return (
    <>
      <header>
        <Status tone="error" word="not run" pill />
      </header>
      <p className="said">
        <b>{visible(error.message)}</b>{" "}
        {error instanceof ApiError && error.hint !== undefined && visible(error.hint)}
      </p>
      <Button icon="rerun" onClick={props.onRetry}>
        Try again
      </Button>
    </>
  );
}

const ENDED: Readonly<Record<string, Tone>> = {
  denied: "denied",
  blocked: "denied",
  timeout: "timeout",
  cancelled: "cancelled",
  aborted: "cancelled",
};

function Came(props: {
  readonly result: RunAnswer["result"];
  readonly args: Readonly<Record<string, unknown>> | undefined;
}) {
  const { result } = props;
  const tone: Tone = result.ok ? "ok" : (ENDED[result.error?.code ?? ""] ?? "error");
  const command = props.args?.command;
  const size = result.content.reduce((sum, part) => sum + ("text" in part ? (part.text?.length ?? 0) : 0), 0);
  return (
    <>
      <header>
        <Status tone={tone} pill />
        <span className="quiet tab">
          {took(result.duration_ms)}
          {result.exit_code !== undefined && ` · exit ${result.exit_code}`}
          {size > 0 && ` · ${bytes(size)}`}
          {result.truncated && " · cut"}
        </span>
        <span className="grow" />
        <Link className="link" href={pathTo("live", { query: { call: result.id } })}>
          See it in Live
        </Link>
      </header>
      {result.error !== undefined && (
        <div className="said" data-st={tone}>
          <p>
            <b>{visible(result.error.code)}</b> {visible(result.error.message)}
          </p>
          {result.error.hint !== undefined && <p className="soft">{visible(result.error.hint)}</p>}
        </div>
      )}
      {result.spilled_to !== undefined && (
        <p className="about">
          The whole of it lies in <code>{visible(result.spilled_to)}</code>
        </p>
      )}
      {(result.ok || result.structured !== undefined) && (
        <ResultBody
          key={result.id}
          result={result}
          command={typeof command === "string" ? command : undefined}
        />
      )}
      {result.notices?.map((notice) => (
        <p key={notice} className="about">
          {visible(notice)}
        </p>
      ))}
    </>
  );
}

/** The last calls of this tool, whoever made them. */
function Earlier({ tool }: { readonly tool: ToolListing }) {
  const calls = useQuery(callsQuery(tool.name)).data?.calls ?? [];
  if (calls.length === 0) return null;
  return (
    <section className="earlier" aria-label="Earlier calls">
      <h3>Earlier calls</h3>
      <ul className="tries">
        {calls.slice(0, 6).map((call) => (
          <li key={call.seq}>
            <Link href={pathTo("live", { query: { tool: tool.name, call: String(call.seq) } })}>
              <Status tone={toneOf(call.status)} calm />
              <Cut mono text={call.error_message ?? gistOfText(call.preview)} className="grow" />
              <span className="num quiet">{took(call.duration_ms)}</span>
              <span className="num quiet">
                <Ago at={call.started_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
