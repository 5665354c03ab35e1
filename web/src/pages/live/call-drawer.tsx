import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, get, post } from "../../api/client.js";
import type { ApprovalAnswer, BriefCall, CallAnswer, RunAnswer, WholeCall } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";
import { bytes, count, plural, took } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery } from "../../router.js";
import { Chip, Code, Cut, Glyph } from "../../ui/bits.js";
import { Button, ButtonLink } from "../../ui/button.js";
import { Drawer, Section } from "../../ui/drawer.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { JsonView } from "../../ui/json-view.js";
import { Link } from "../../ui/link.js";
import { ErrorState, Skeleton, Strip } from "../../ui/states.js";
import { Status, toneOf } from "../../ui/status.js";
import { Decision } from "./decision.js";
import { Timeline } from "./timeline.js";
import "./call-drawer.css";

export function callQuery(id: string) {
  return {
    queryKey: ["call", id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      get<CallAnswer>(`/v1/calls/${encodeURIComponent(id)}`, { signal }),
  };
}

/** Everything that is known of one call. `brief` is there at once, the rest follows. */
export function CallDrawer(props: {
  readonly id: string;
  readonly brief: BriefCall | undefined;
  readonly question: ApprovalAnswer | undefined;
  readonly onClose: () => void;
  readonly onStep: (step: 1 | -1) => void;
}) {
  const { id } = props;
  const detail = useQuery(callQuery(id));
  const queryClient = useQueryClient();
  useEvents((event) => {
    if (
      event.type === "call.finished" &&
      (event.id === detail.data?.call.call_id ||
        event.id === props.brief?.call_id ||
        event.parent === detail.data?.call.call_id)
    )
      void queryClient.invalidateQueries({ queryKey: ["call", id] });
  });
  const call: WholeCall | BriefCall | undefined = detail.data?.call ?? props.brief;
  const parent = call?.parent;
  const above = useQuery({ ...callQuery(parent ?? ""), enabled: parent !== undefined }).data;

  const again = useMutation({
    mutationFn: () => post<RunAnswer>(`/v1/calls/${encodeURIComponent(id)}/again`),
  });
  const [copied, setCopied] = useState("");
  const command = detail.data?.command;
  const copy = () => {
    if (command === undefined) return;
    void navigator.clipboard.writeText(command).then(() => {
      setCopied(id);
      setTimeout(() => setCopied(""), 1_500);
    });
  };
  const isRunning = call?.status === "running";
  const notAgain = isRunning ? "It still runs." : undefined;
  useKeys({
    r: () => notAgain === undefined && !again.isPending && again.mutate(),
    c: copy,
  });

  const tone = props.question !== undefined ? "asked" : toneOf(call?.status ?? "unknown");
  return (
    <Drawer
      label="Call details"
      of={id}
      onClose={props.onClose}
      onStep={props.onStep}
      crumbs={
        <>
          {call !== undefined && (
            <Link
              className="cut"
              href={pathTo("live", { query: { session: call.session_id } })}
              title="Calls of this session"
            >
              {visibleLine(call.session_id)}
            </Link>
          )}
          {above !== undefined && (
            <>
              <Icon name="right" />
              <button
                type="button"
                className="crumb-link cut"
                onClick={() => setQuery({ call: String(above.call.seq) })}
              >
                {visibleLine(above.call.tool)}
              </button>
            </>
          )}
          <Icon name="right" />
          <span className="mono cut">{visibleLine(call?.call_id ?? id)}</span>
        </>
      }
      head={
        <>
          <div className="headline">
            <Glyph icon={toolIcon(call?.tool ?? "", call?.toolset)} />
            <h2 className="cut">{visibleLine(call?.tool ?? "…")}</h2>
            {call !== undefined && <Status tone={tone} pill />}
            <span className="quiet tab cut">{call === undefined ? "" : factsOf(call)}</span>
          </div>
          <div className="actions">
            <Button
              icon="rerun"
              keys="R"
              busy={again.isPending}
              disabledBecause={notAgain}
              onClick={() => again.mutate()}
            >
              Run again
            </Button>
            <Button
              icon={copied === id ? "check" : "copy"}
              keys="C"
              disabledBecause={command === undefined ? "It is still being read." : undefined}
              onClick={copy}
            >
              {copied === id ? "Copied" : "Copy as command"}
            </Button>
            {call !== undefined && (
              <ButtonLink
                look="plain"
                icon="permissions"
                href={pathTo("permissions", { query: { call: id, tool: call.tool } })}
              >
                Explain
              </ButtonLink>
            )}
          </div>
        </>
      }
    >
      {again.isSuccess && (
        <Strip tone={again.data.result.ok ? "ok" : "error"} icon={again.data.result.ok ? "s-ok" : "s-error"}>
          Ran again: {again.data.result.ok ? "ok" : visibleLine(again.data.result.error?.message ?? "failed")}
        </Strip>
      )}
      {again.isError && (
        <Strip tone="error" icon="s-error">
          Not run again: {visible(again.error.message)}{" "}
          {again.error instanceof ApiError && again.error.hint !== undefined && visible(again.error.hint)}
        </Strip>
      )}
      {props.question !== undefined && (
        <Strip
          tone="asked"
          icon="s-asked"
          action={
            <ButtonLink href={pathTo("approvals", { query: { question: props.question.id } })}>
              Answer
            </ButtonLink>
          }
        >
          <b>{visibleLine(props.question.reason)}</b> It waits for you.
        </Strip>
      )}
      {detail.data !== undefined ? (
        <Details detail={detail.data} above={above} />
      ) : detail.isError ? (
        isRunning ? (
          <p className="list-end">
            It has only just begun; what is known of it is written down when it runs or ends.
          </p>
        ) : (
          <ErrorState
            title="This call could not be read"
            error={detail.error}
            stillWorks="The list still works."
            onRetry={() => void detail.refetch()}
            busy={detail.isFetching}
          />
        )
      ) : (
        <Skeleton />
      )}
    </Drawer>
  );
}

function factsOf(call: WholeCall | BriefCall): string {
  const exit = "exit_code" in call && call.exit_code !== undefined ? `exit ${call.exit_code}` : undefined;
  const code =
    call.error_code === undefined || call.status === call.error_code
      ? undefined
      : call.error_code.replaceAll("_", " ");
  return [call.duration_ms === undefined ? undefined : took(call.duration_ms), exit, code]
    .filter((part) => part !== undefined)
    .join(" · ");
}

function Details({ detail, above }: { readonly detail: CallAnswer; readonly above: CallAnswer | undefined }) {
  const { call, result } = detail;
  // Inside another call the whole of it is the picture; alone, its own children are.
  const root = above ?? detail;
  return (
    <>
      {root.children.length > 0 && (
        <Timeline root={root.call} children_={root.children} current={call.call_id} />
      )}
      <Decision detail={detail} />
      <Effects effects={call.effects} />
      <Section
        title="Arguments"
        end={call.args_bytes === undefined ? "JSON" : `first part of ${bytes(call.args_bytes)}`}
      >
        {typeof call.args === "string" ? (
          <Code wrap>{visible(call.args)}</Code>
        ) : (
          <JsonView value={call.args} label="Arguments" />
        )}
        {call.repairs !== undefined && call.repairs !== "" && (
          <p className="note">Repaired before it ran: {visible(call.repairs)}</p>
        )}
      </Section>
      {call.error_message !== undefined && (
        <Section title="Error" end={call.error_code}>
          <p className="error-text">{visible(call.error_message)}</p>
        </Section>
      )}
      <Section title="Result" end={sizeOf(call)}>
        {result === undefined ? (
          <p className="note">
            {call.result_chars === 0 || call.status === "running"
              ? "There is none."
              : "It was not kept. The journal keeps the newest; journal.results_mb says how many."}
          </p>
        ) : (
          <>
            <ResultText text={result.text} />
            {!result.complete && <p className="note">Only its beginning was kept.</p>}
          </>
        )}
      </Section>
      <More call={call} />
    </>
  );
}

/** Many results are JSON; that reads better with its lines. */
function ResultText({ text }: { readonly text: string }) {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  return value === undefined ? (
    <Code wrap label="Result">
      {visible(text)}
    </Code>
  ) : (
    <JsonView value={value} label="Result" />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sizeOf(call: WholeCall): string {
  const parts = [
    call.result_chars === undefined ? undefined : plural(call.result_chars, "character"),
    call.result_tokens === undefined ? undefined : plural(call.result_tokens, "token"),
  ];
  return parts.filter((part) => part !== undefined).join(" · ");
}

function Effects({ effects }: { readonly effects: WholeCall["effects"] }) {
  const known = typeof effects === "string" ? [] : effects;
  return (
    <Section title="Effects">
      {known.length === 0 ? (
        <p className="note">{typeof effects === "string" ? visibleLine(effects) : "It touches nothing."}</p>
      ) : (
        <ul className="fx">
          {known.map(({ action, resource }) => (
            <li key={`${action} ${resource}`}>
              <Chip mono>{visibleLine(action)}</Chip>
              <Cut mono text={resource === "*" ? "anything" : resource} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function More({ call }: { readonly call: WholeCall }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Door", call.door],
    ["Runs in", call.worker === undefined ? call.environment : `${call.environment}, worker ${call.worker}`],
    ["Model", call.model],
    ["Queued", call.queued_ms === undefined ? undefined : took(call.queued_ms)],
    ["Waited for an answer", call.approval_wait_ms === undefined ? undefined : took(call.approval_wait_ms)],
    ["Retries", call.retries === undefined ? undefined : count(call.retries)],
    [
      "Tokens in, out",
      call.input_tokens === undefined
        ? undefined
        : `${count(call.input_tokens)}, ${count(call.output_tokens ?? 0)}`,
    ],
    ["Cost", call.cost_usd === undefined ? undefined : `$${call.cost_usd.toFixed(4)}`],
  ];
  return (
    <Section title="More">
      <dl className="more-facts">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="cut">{visibleLine(value)}</dd>
            </div>
          ),
        )}
      </dl>
      {call.damaged === true && (
        <p className="note">Its row no longer matches its checksum: what stands here is not to be trusted.</p>
      )}
    </Section>
  );
}
