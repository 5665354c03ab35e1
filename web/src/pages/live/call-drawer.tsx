import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, address, get, post } from "../../api/client.js";
import type { ApprovalAnswer, BriefCall, CallAnswer, RunAnswer, WholeCall } from "../../api/types.js";
import { useEvents } from "../../events/use-events.js";
import { took } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Glyph } from "../../ui/bits.js";
import { Button, ButtonLink } from "../../ui/button.js";
import { Drawer } from "../../ui/drawer.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { SessionName } from "../../ui/session-name.js";
import { ErrorState, Skeleton, Strip } from "../../ui/states.js";
import { Status, toneOf } from "../../ui/status.js";
import { CallDetails } from "./call-details.js";
import "./call-drawer.css";

/** Ids of calls repeat, so one that has no number yet is looked for in its session or conversation. */
interface Within {
  readonly session?: string | undefined;
  readonly conversation?: string | undefined;
}

function callQuery(id: string, within: Within = {}) {
  return {
    queryKey: ["call", id, within],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      get<CallAnswer>(address(`/v1/calls/${encodeURIComponent(id)}`, { ...within }), { signal }),
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
  const { session, conversation } = usePlace().query;
  const isNumber = /^\d+$/.test(id);
  const detail = useQuery(
    callQuery(id, isNumber ? {} : { session: props.brief?.session_id ?? session, conversation }),
  );
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
  const above = useQuery({
    ...callQuery(parent ?? "", { session: detail.data?.call.parent_session }),
    enabled: parent !== undefined && detail.data !== undefined,
  }).data;

  const again = useMutation({
    mutationFn: () => post<RunAnswer>(`/v1/calls/${detail.data?.call.seq ?? encodeURIComponent(id)}/again`),
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
              href={pathTo("live", {
                query:
                  call.conversation === undefined
                    ? { session: call.session_id }
                    : { conversation: call.conversation },
              })}
              title={`Calls of this ${call.conversation === undefined ? "session" : "conversation"}`}
            >
              <SessionName session={call.session_id} conversation={call.conversation} />
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
              <ButtonLink look="plain" icon="permissions" href={explainPath(call)}>
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
        <CallDetails detail={detail.data} above={above} />
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

const LONGEST_ARGS = 4_000;

/** What today's rules say of the same call; it can be changed there. */
function explainPath(call: WholeCall | BriefCall): string {
  const args = "args" in call ? JSON.stringify(call.args) : undefined;
  const fits = args?.startsWith("{") === true && args.length <= LONGEST_ARGS;
  return pathTo("permissions", {
    query: { tab: "explain", tool: call.tool, args: fits ? args : "{}" },
  });
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
