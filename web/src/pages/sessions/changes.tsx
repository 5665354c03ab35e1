import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client.js";
import type { SessionChange, UndoAnswer } from "../../api/types.js";
import { pathIn, plural } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { Ago, Chip, Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Checkbox } from "../../ui/controls.js";
import { Diff } from "../../ui/diff.js";
import { Icon } from "../../ui/icon.js";
import { Notice } from "../../ui/notice.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status } from "../../ui/status.js";
import { changesQuery } from "./use-sessions.js";

const KINDS = { write: "changed", remove: "removed", rename: "moved" } as const;

/** What the calls did to files. Taking it back is shown first: the diff is what would be undone. */
export function Changes({ id, folder }: { readonly id: string; readonly folder: string }) {
  const client = useQueryClient();
  const asked = useQuery(changesQuery(id));
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const undo = useMutation({
    mutationFn: (changes: readonly number[]) =>
      post<UndoAnswer>(`/v1/sessions/${encodeURIComponent(id)}/undo`, { changes }),
    onSettled: () => client.invalidateQueries({ queryKey: ["sessions", "changes", id] }),
  });
  if (asked.data === undefined)
    return asked.isError ? (
      <ErrorState
        title="The changes could not be read"
        error={asked.error}
        onRetry={() => void asked.refetch()}
        busy={asked.isFetching}
      />
    ) : (
      <Skeleton rows={4} />
    );
  const { changes } = asked.data;
  if (changes.length === 0)
    return (
      <Empty icon="undo" title="No files were changed">
        What calls of this conversation write, remove or move is listed here, and can be taken back.
      </Empty>
    );
  const open = changes.filter(({ undone_at, kept }) => undone_at === null && kept);
  const chosen = open.filter(({ change }) => !left.has(change));
  const restored = undo.data?.restored ?? [];
  const done = restored.filter(({ outcome }) => outcome === "restored").length;
  return (
    <div className="changes">
      <div className="undo-bar">
        <Button
          look="ink"
          icon="undo"
          busy={undo.isPending}
          disabledBecause={
            open.length === 0
              ? "There is nothing left to take back."
              : chosen.length === 0
                ? "Choose at least one change."
                : undefined
          }
          onClick={() => undo.mutate(chosen.map(({ change }) => change))}
        >
          {`Undo ${plural(chosen.length, "change")}`}
        </Button>
        <span className="quiet">A file that somebody has changed since is left alone.</span>
      </div>
      <Notice error={undo.error}>
        {undo.data !== undefined &&
          `${plural(done, "change")} taken back${restored.length > done ? `, ${restored.length - done} left alone` : ""}.`}
      </Notice>
      {restored
        .filter(({ outcome }) => outcome === "left")
        .map(({ change, path, reason }) => (
          <p key={change} className="quiet">
            <code>{visibleLine(path)}</code> was left alone
            {reason === undefined ? "." : `: ${visibleLine(reason)}`}
          </p>
        ))}
      {changes.map((change) => (
        <Change
          key={change.change}
          change={change}
          folder={folder}
          chosen={!left.has(change.change)}
          onChoose={(isChosen) =>
            setLeft((now) => {
              const next = new Set(now);
              if (isChosen) next.delete(change.change);
              else next.add(change.change);
              return next;
            })
          }
        />
      ))}
    </div>
  );
}

function Change(props: {
  readonly change: SessionChange;
  readonly folder: string;
  readonly chosen: boolean;
  readonly onChoose: (chosen: boolean) => void;
}) {
  const { change, folder } = props;
  const kind = change.kind === "write" && !change.existed ? "created" : KINDS[change.kind];
  const name = [change.path, change.target ?? []]
    .flat()
    .map((path) => pathIn(folder, path))
    .join(" → ");
  const canUndo = change.undone_at === null && change.kept;
  return (
    <section className="card change" aria-label={visibleLine(name)}>
      <header>
        {canUndo ? (
          <Checkbox checked={props.chosen} onChange={props.onChoose}>
            <span className="hush">Undo {visibleLine(name)}</span>
          </Checkbox>
        ) : (
          <Icon name="t-file" />
        )}
        <Cut mono className="grow" text={name} />
        <Chip>{kind}</Chip>
        <span className="quiet opt">
          {visibleLine(change.tool)} · <Ago at={Date.parse(change.at)} />
        </span>
        {change.undone_at !== null && <Status tone="ok" word="undone" calm />}
      </header>
      {change.before !== undefined || change.now !== undefined ? (
        change.undone_at === null && (
          <Diff
            before={change.before ?? ""}
            after={change.now ?? ""}
            label={`Changes of ${visibleLine(name)}`}
          />
        )
      ) : (
        <p className="quiet missing">{visibleLine(change.diff_missing ?? "There is no diff of it.")}</p>
      )}
    </section>
  );
}
