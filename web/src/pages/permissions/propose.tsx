import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../../api/client.js";
import type { ProposalAccepted, ProposalAnswer } from "../../api/types.js";
import { count, plural } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Card, Chip, Code, CopyButton, Meter } from "../../ui/bits.js";
import { Button, ButtonLink } from "../../ui/button.js";
import { Field, Segmented } from "../../ui/controls.js";
import { Notice } from "../../ui/notice.js";
import { Empty } from "../../ui/states.js";

const DAYS = ["7", "30", "90"] as const;

/** The narrowest profile that still allows what was used; a person reads it and accepts it, or does not. */
export function Propose() {
  const client = useQueryClient();
  const { query } = usePlace();
  const days = DAYS.find((known) => known === query.days) ?? "30";
  const [name, setName] = useState(query.name ?? "as_used");
  const propose = useMutation({
    mutationFn: () => post<ProposalAnswer>("/v1/permissions/propose", { name, days: Number(days) }),
    onMutate: () => setQuery({ name }),
  });
  const accept = useMutation({
    mutationFn: ({ name: accepted, yaml }: ProposalAnswer) =>
      post<ProposalAccepted>("/v1/permissions/accept", { name: accepted, yaml }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings"] }),
  });
  const proposal = propose.data;
  return (
    <div className="split perms">
      <form
        className="perm-form"
        onSubmit={(event) => {
          event.preventDefault();
          accept.reset();
          propose.mutate();
        }}
      >
        <p className="soft">
          Looks at the calls that were let through and writes the narrowest profile that still lets them
          through. It lies within the profile in force, so it never allows more.
        </p>
        <Field
          label="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          description="Of the new profile."
          spellCheck={false}
        />
        <div className="labelled">
          <span className="as-label">Calls of the last</span>
          <Segmented
            label="Days"
            value={days}
            options={DAYS.map((value) => ({ value, label: `${value} days` }))}
            onChange={(value) => setQuery({ days: value === "30" ? undefined : value })}
          />
        </div>
        <div className="actions">
          <Button
            look="ink"
            type="submit"
            busy={propose.isPending}
            disabledBecause={name === "" ? "Give it a name." : undefined}
          >
            Propose
          </Button>
          <CopyButton
            look="plain"
            label="Command"
            text={`hermes permissions propose --name ${name} --days ${days}`}
          />
        </div>
        <Notice error={propose.error} />
        {propose.error instanceof ApiError && propose.error.status === 404 && (
          <p className="quiet">This server cannot propose yet; the command can.</p>
        )}
      </form>
      <div className="scroll perm-body" tabIndex={0} role="region" aria-label="Proposal" aria-live="polite">
        {proposal === undefined ? (
          <Empty icon="permissions" title="A profile from what was used">
            Nothing is written until you accept it.
          </Empty>
        ) : proposal.calls === 0 ? (
          <Empty icon="permissions" title="Nothing to propose from" command="hermes call system_info">
            No call was let through in this time.
          </Empty>
        ) : (
          <div className="page">
            <p className="lead">
              {proposal.covered === proposal.calls
                ? `All ${count(proposal.calls)} calls stay as they are.`
                : `${count(proposal.covered)} of ${plural(proposal.calls, "call")} stay as they are.`}
            </p>
            <Meter label="Calls that stay as they are" value={proposal.covered} of={proposal.calls} />
            <Card title={visibleLine(proposal.name)} end={<CopyButton look="plain" text={proposal.yaml} />}>
              <div className="pad">
                <Code wrap label="The profile as a file">
                  {visible(proposal.yaml)}
                </Code>
              </div>
            </Card>
            {proposal.never_used.length > 0 && (
              <Card title="Never needed" end={String(proposal.never_used.length)}>
                <div className="chips pad">
                  {proposal.never_used.slice(0, 200).map((rule, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may stand twice
                    <Chip key={index} mono>
                      {visibleLine(neverText(rule))}
                    </Chip>
                  ))}
                </div>
              </Card>
            )}
            <div className="actions">
              <Button
                busy={accept.isPending}
                onClick={() => accept.mutate(proposal)}
                disabledBecause={accept.isSuccess ? "It is written." : undefined}
              >
                Accept
              </Button>
              {accept.isSuccess && (
                <ButtonLink
                  look="plain"
                  href={pathTo("permissions", { query: { tab: "simulate", profile: proposal.name } })}
                >
                  Simulate it
                </ButtonLink>
              )}
            </div>
            <Notice error={accept.error}>
              {accept.data !== undefined && (
                <>
                  Written to <code>{visibleLine(accept.data.file)}</code>. To work under it:{" "}
                  <code>hermes permissions use {visibleLine(accept.data.name)}</code>
                </>
              )}
            </Notice>
          </div>
        )}
      </div>
    </div>
  );
}

function neverText(rule: unknown): string {
  if (typeof rule !== "object" || rule === null) return String(rule);
  const { permission, rule: name } = rule as { readonly permission?: unknown; readonly rule?: unknown };
  return String(permission ?? name ?? "");
}
