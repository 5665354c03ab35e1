import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../../api/client.js";
import { plural, wholeTime } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { go, pathTo, setQuery, usePlace } from "../../router.js";
import { Chip } from "../../ui/bits.js";
import { Button, ButtonLink, IconButton } from "../../ui/button.js";
import { Tabs } from "../../ui/controls.js";
import { Icon } from "../../ui/icon.js";
import { Modal } from "../../ui/modal.js";
import { Notice } from "../../ui/notice.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Changes } from "./changes.js";
import { SessionState, titleOf } from "./columns.js";
import { Messages } from "./messages.js";
import { Replay } from "./replay.js";
import { changesQuery, messagesQuery } from "./use-sessions.js";

export function SessionDetail({ id }: { readonly id: string }) {
  const { query } = usePlace();
  const around = /^\d+$/.test(query.message ?? "") ? query.message : undefined;
  const tab = query.tab === "changes" || query.tab === "replay" ? query.tab : "messages";
  const asked = useInfiniteQuery(messagesQuery(id, around));
  const changes = useQuery(changesQuery(id));
  const [deleting, setDeleting] = useState(false);
  const session = asked.data?.pages[0];
  const close = () => go(pathTo("sessions", { query: { q: query.q } }));
  if (session === undefined)
    return (
      <section className="sess" aria-label="Conversation">
        <div className="sess-top">
          <Button look="plain" icon="left" onClick={close}>
            All conversations
          </Button>
        </div>
        {!asked.isError ? (
          <Skeleton />
        ) : asked.error instanceof ApiError && asked.error.status === 404 ? (
          <Empty icon="sessions" title="There is no such conversation">
            It may have been deleted, or belong to somebody else.
          </Empty>
        ) : (
          <ErrorState
            title="The conversation could not be read"
            error={asked.error}
            onRetry={() => void asked.refetch()}
            busy={asked.isFetching}
          />
        )}
      </section>
    );
  const base = `/v1/sessions/${encodeURIComponent(id)}/export?format=`;
  return (
    <section className="sess" aria-label="Conversation">
      <header className="sess-head">
        <div className="row-flex">
          <IconButton className="back" icon="left" label="All conversations" onClick={close} />
          <h2 className="grow">{visibleLine(titleOf(session))}</h2>
          <SessionState state={session.state} />
          <IconButton className="shut" icon="close" label="Close" onClick={close} />
        </div>
        <div className="chips">
          <Chip>{session.source}</Chip>
          {session.model !== "" && <Chip mono>{visibleLine(session.model)}</Chip>}
          <Chip>{plural(session.total, "message")}</Chip>
          {session.cost_usd !== undefined && <Chip>{`$${session.cost_usd.toFixed(4)}`}</Chip>}
          <Chip mono icon="folder">
            {visibleLine(session.cwd)}
          </Chip>
          <Chip title={session.started_at}>{`since ${wholeTime(Date.parse(session.started_at))}`}</Chip>
        </div>
        <div className="actions">
          <ButtonLink icon="chat" href={pathTo("chat", { query: { session: id } })}>
            Continue
          </ButtonLink>
          <a className="btn" href={`${base}md`} download>
            <Icon name="download" />
            Markdown
          </a>
          <a className="btn" href={`${base}jsonl`} download>
            <Icon name="download" />
            JSON Lines
          </a>
          <a className="btn" href={`${base}tape`} download>
            <Icon name="download" />
            Tape
          </a>
          <Button
            look="plain"
            icon="trash"
            onClick={() => setDeleting(true)}
            disabledBecause={
              session.state === "running" ? "It is being worked on. Stop it first." : undefined
            }
          >
            Delete
          </Button>
        </div>
      </header>
      <Tabs
        label="Parts"
        value={tab}
        options={[
          { value: "messages", label: "Messages", count: session.total },
          { value: "changes", label: "File changes", count: changes.data?.changes.length },
          { value: "replay", label: "Replay" },
        ]}
        onChange={(value) => setQuery({ tab: value === "messages" ? undefined : value })}
      />
      <div className="scroll" tabIndex={0} role="tabpanel" aria-label={tab}>
        {tab === "changes" ? (
          <Changes id={id} folder={session.cwd} />
        ) : tab === "replay" ? (
          <Replay id={id} />
        ) : (
          <Messages id={id} words={query.q ?? ""} around={around} />
        )}
      </div>
      {deleting && (
        <Delete id={id} title={titleOf(session)} onClose={() => setDeleting(false)} onDone={close} />
      )}
    </section>
  );
}

function Delete(props: {
  readonly id: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => post(`/v1/sessions/${encodeURIComponent(props.id)}`, {}, { method: "DELETE" }),
    onSuccess: async () => {
      props.onDone();
      await client.invalidateQueries({ queryKey: ["sessions", "list"] });
    },
  });
  return (
    <Modal label="Delete conversation" onClose={props.onClose}>
      <div className="confirm">
        <h2>Delete “{visibleLine(props.title)}”?</h2>
        <p className="soft">
          Its messages, and those of conversations it handed work to, are removed from the disk. Files it has
          changed stay as they are. This cannot be undone.
        </p>
        <Notice error={remove.error} />
        <div className="actions">
          <Button look="ink" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
          <Button onClick={props.onClose}>Keep</Button>
        </div>
      </div>
    </Modal>
  );
}
