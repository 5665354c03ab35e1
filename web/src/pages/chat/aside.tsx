import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api/client.js";
import { infoQuery, recentQuery } from "../../api/queries.js";
import type { SessionChange, SessionChangesAnswer } from "../../api/types.js";
import { count, pathIn } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { pathTo } from "../../router.js";
import { Ago, Cut } from "../../ui/bits.js";
import { ButtonLink } from "../../ui/button.js";
import { changedLines } from "../../ui/diff.js";
import { Section } from "../../ui/drawer.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { StatusIcon } from "../../ui/status.js";
import type { ConversationState } from "./conversation.js";
import { planOf } from "./items.js";

/** What belongs to this conversation, and the others. */
export function Aside({ state }: { readonly state: ConversationState }) {
  const plan = planOf(state.items);
  return (
    <aside className="aside" aria-label="This conversation">
      <h2 className="hush">This conversation</h2>
      {plan.length > 0 && (
        <Section
          title="Plan"
          end={`${plan.filter(({ status }) => status === "completed").length} of ${plan.length}`}
        >
          <ul className="todo">
            {plan.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
              <li key={index} className={step.status === "completed" ? "done" : ""}>
                {step.status === "completed" ? (
                  <Icon name="s-ok" />
                ) : step.status === "in_progress" ? (
                  <StatusIcon tone="running" />
                ) : (
                  <Icon name="circle" />
                )}
                <span>{visibleLine(step.content)}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {state.session !== undefined && <Changed state={state} session={state.session} />}
      <Facts state={state} />
      <Section title="Recent conversations">
        <Recent current={state.session} />
      </Section>
    </aside>
  );
}

function Changed({ session, state }: { readonly session: string; readonly state: ConversationState }) {
  const { data: info } = useQuery(infoQuery);
  const ended = state.items.filter((item) => item.kind === "tool" && item.call.content !== undefined).length;
  const changes = useQuery({
    queryKey: ["sessions", session, "changes", state.running, ended],
    queryFn: ({ signal }) =>
      get<SessionChangesAnswer>(`/v1/sessions/${encodeURIComponent(session)}/changes`, { signal }),
    placeholderData: (before) => before,
  });
  const files = useMemo(() => filesOf(changes.data?.changes ?? []), [changes.data]);
  if (files.length === 0) return null;
  return (
    <Section title="Files changed" end={files.length}>
      <ul className="files">
        {files.slice(0, SHOWN_FILES).map(({ path, added, removed }) => (
          <li key={path}>
            <Icon name="t-file" size="s" />
            <Cut className="grow" text={pathIn(info?.cwd, path)} />
            {added > 0 && <span className="num plus">+{count(added)}</span>}
            {removed > 0 && <span className="num minus">−{count(removed)}</span>}
          </li>
        ))}
      </ul>
      {files.length > SHOWN_FILES && <p className="about">and {files.length - SHOWN_FILES} more</p>}
      <ButtonLink href={pathTo("sessions", { item: session, query: { tab: "changes" } })} icon="eye">
        See or undo
      </ButtonLink>
    </Section>
  );
}

const SHOWN_FILES = 8;

interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** What was taken back since does not count. */
function filesOf(changes: readonly SessionChange[]): readonly ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const { path, before, now, undone_at } of changes) {
    if (undone_at !== null) continue;
    const lines = before === undefined && now === undefined ? NONE : changedLines(before ?? "", now ?? "");
    const known = files.get(path) ?? NONE;
    files.set(path, { path, added: known.added + lines.added, removed: known.removed + lines.removed });
  }
  return [...files.values()];
}

const NONE = { added: 0, removed: 0 };

function Facts({ state }: { readonly state: ConversationState }) {
  const { data: info } = useQuery(infoQuery);
  const calls = state.items.filter((item) => item.kind === "tool");
  const failed = calls.filter((item) => item.kind === "tool" && item.call.state === "error").length;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Model", state.model ?? info?.model],
    ["Calls", calls.length === 0 ? undefined : `${calls.length}${failed > 0 ? `, ${failed} failed` : ""}`],
    ["Tokens", tokensOf(state)],
    ["Cost", costOf(state)],
    ["Folder", info?.cwd],
    ["Profile", info?.profile],
  ];
  return (
    <Section title="About">
      <dl className="pairs">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="cut" title={visibleLine(value)}>
                  {visibleLine(value)}
                </dd>
              </div>
            ),
        )}
      </dl>
    </Section>
  );
}

export function tokensOf({ tokens }: ConversationState): string | undefined {
  return tokens.input + tokens.output === 0
    ? undefined
    : `${count(tokens.input)} in, ${count(tokens.output)} out`;
}

export function costOf({ cost }: ConversationState): string | undefined {
  return cost === undefined ? undefined : `$${cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

export function Recent(props: { readonly current: string | undefined; readonly onPick?: () => void }) {
  const recent = useQuery(recentQuery);
  const sessions = recent.data?.sessions ?? [];
  if (recent.data !== undefined && sessions.length === 0)
    return <p className="about">This will be the first.</p>;
  return (
    <ul className="recent">
      {sessions.map((session) => (
        <li key={session.id}>
          <Link
            href={pathTo("chat", { query: { session: session.id } })}
            aria-current={session.id === props.current ? "page" : undefined}
            onClick={() => props.onPick?.()}
          >
            <Cut text={session.title === "" ? "Untitled" : session.title} className="grow" />
            {session.state === "running" ? (
              <StatusIcon tone="running" />
            ) : (
              <span className="quiet">
                <Ago at={Date.parse(session.updated_at)} />
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}
