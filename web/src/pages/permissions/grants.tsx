import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "../../api/client.js";
import type { GrantRevoked, GrantRow, GrantsAnswer } from "../../api/types.js";
import { plural } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Ago, Chip } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Notice } from "../../ui/notice.js";
import { Empty, ErrorState, Skeleton, Strip } from "../../ui/states.js";
import { StatusIcon } from "../../ui/status.js";

/** What was approved for good, and the way back. */
export function Grants() {
  const client = useQueryClient();
  const asked = useQuery({
    queryKey: ["settings", "grants"],
    queryFn: ({ signal }) => get<GrantsAnswer>("/v1/permissions/grants", { signal }),
  });
  const revoke = useMutation({
    mutationFn: ({ id }: GrantRow) =>
      post<GrantRevoked>(`/v1/permissions/grants/${encodeURIComponent(id)}`, {}, { method: "DELETE" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["settings"] }),
  });
  const { data } = asked;
  if (data === undefined)
    return asked.isError ? (
      <ErrorState
        title="The grants could not be read"
        error={asked.error}
        stillWorks="Calls are still decided by the grants that were read last."
        onRetry={() => void asked.refetch()}
        busy={asked.isFetching}
      />
    ) : (
      <Skeleton />
    );
  return (
    <div className="scroll perm-body" tabIndex={0} role="region" aria-label="Grants">
      {data.problems.length > 0 && (
        <Strip tone="error" icon="s-error">
          {data.problems.map(visibleLine).join(" ")}
        </Strip>
      )}
      {data.grants.length === 0 ? (
        <Empty icon="permissions" title="Nothing is approved for good">
          Whoever answers a question with <b>always</b> adds a grant; it stands here until it is taken back.
        </Empty>
      ) : (
        <>
          <p className="soft grants-lead">
            {plural(data.grants.length, "grant")}. What they cover is not asked about any more, in every
            session.
          </p>
          <ul className="rules grants">
            {data.grants.toReversed().map((grant) => (
              <GrantLine
                key={grant.id}
                grant={grant}
                busy={revoke.isPending && revoke.variables.id === grant.id}
                onRevoke={() => revoke.mutate(grant)}
              />
            ))}
          </ul>
        </>
      )}
      <div className="grants-lead">
        <Notice error={revoke.error}>
          {revoke.data !== undefined && (
            <>
              Taken back, and gone from <code>{visibleLine(revoke.data.file)}</code>. Whoever wants it again
              is asked.
            </>
          )}
        </Notice>
      </div>
    </div>
  );
}

const STATES: Readonly<Record<Exclude<GrantRow["state"], "in force">, string>> = {
  expired: "expired",
  "used up": "used up",
  "too wide": "too wide, approves nothing",
};

function GrantLine(props: {
  readonly grant: GrantRow;
  readonly busy: boolean;
  readonly onRevoke: () => void;
}) {
  const { grant } = props;
  const inForce = grant.state === "in force";
  const what = visible(grant.what);
  return (
    <li data-st={inForce ? "ok" : undefined}>
      <span className="verb">
        {inForce && <StatusIcon tone="ok" />}
        {grant.kind === "text" ? "allows" : grant.kind}
      </span>
      <span className="what">
        <code>{what}</code>
        <span className="chips">
          {grant.state !== "in force" && <Chip>{STATES[grant.state]}</Chip>}
          <Chip mono={grant.scope !== null}>{visibleLine(grant.scope ?? "everywhere")}</Chip>
          <Chip>{usesText(grant)}</Chip>
          {grant.expires !== null && <Chip>until {visibleLine(grant.expires)}</Chip>}
        </span>
        <span className="quiet">
          {visibleLine(grant.origin ?? "written by hand")}
          {isTime(grant.added) && (
            <>
              {", "}
              <Ago at={Date.parse(grant.added)} />
            </>
          )}
          {" · "}
          {grant.file === null
            ? "a variable or flag"
            : visibleLine(`${grant.file}${grant.line === null ? "" : `:${grant.line}`}`)}
        </span>
      </span>
      <Button icon="undo" busy={props.busy} onClick={props.onRevoke} aria-label={`Take back ${what}`}>
        Take back
      </Button>
    </li>
  );
}

function usesText({ uses, max_uses: most }: GrantRow): string {
  if (uses === null) return "uses not known";
  if (most !== null) return `used ${uses} of ${most} times`;
  return uses === 0 ? "not used yet" : `used ${plural(uses, "time")}`;
}

function isTime(text: string | null): text is string {
  return text !== null && !Number.isNaN(Date.parse(text));
}
