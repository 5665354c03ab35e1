import { useQuery } from "@tanstack/react-query";
import { post } from "../../api/client.js";
import type { PermissionsAnswer, SimulateAnswer } from "../../api/types.js";
import { count, plural, sentence } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Card, Chip, CopyButton, Cut, Meter } from "../../ui/bits.js";
import { Segmented, Select } from "../../ui/controls.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status, type Tone } from "../../ui/status.js";
import { placeOf } from "./profiles.js";

const DAYS = ["1", "7", "30", "90"] as const;

/** What another profile would have done with the calls of the last days. Nothing runs, nobody is asked. */
export function Simulate({ permissions }: { readonly permissions: PermissionsAnswer }) {
  const { query } = usePlace();
  const days = DAYS.find((known) => known === query.days) ?? "30";
  const profile =
    query.profile ?? permissions.profiles.find(({ active }) => !active)?.name ?? permissions.current;
  const asked = useQuery({
    queryKey: ["settings", "simulate", profile, days],
    queryFn: ({ signal }) =>
      post<SimulateAnswer>("/v1/permissions/simulate", { profile, days: Number(days) }, { signal }),
  });
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Simulation">
      <div className="page narrow">
        <div className="ask-line">
          <span>Had</span>
          <Select
            label="Profile"
            value={profile}
            options={permissions.profiles.map(({ name, active }) => ({
              value: name,
              label: active ? `${name} (in force)` : name,
            }))}
            onChange={(value) => setQuery({ profile: value })}
          />
          <span>been in force for the last</span>
          <Segmented
            label="Days"
            value={days}
            options={DAYS.map((value) => ({ value, label: value === "1" ? "1 day" : `${value} days` }))}
            onChange={(value) => setQuery({ days: value === "30" ? undefined : value })}
          />
          <CopyButton
            look="plain"
            label="Command"
            text={`hermes permissions simulate --profile ${profile} --days ${days}`}
          />
        </div>
        {asked.data === undefined ? (
          asked.isError ? (
            <ErrorState
              title="This could not be simulated"
              error={asked.error}
              onRetry={() => void asked.refetch()}
              busy={asked.isFetching}
            />
          ) : (
            <Skeleton rows={5} />
          )
        ) : asked.data.calls === 0 ? (
          <Empty icon="permissions" title="No calls to simulate over" command="hermes call system_info">
            The simulation looks at recorded calls, and there are none in this time. Make one:
          </Empty>
        ) : (
          <Outcome answer={asked.data} />
        )}
      </div>
    </div>
  );
}

function Outcome({ answer }: { readonly answer: SimulateAnswer }) {
  const sum = (changes: SimulateAnswer["newly_denied"]) => changes.reduce((all, { calls }) => all + calls, 0);
  const denied = sum(answer.newly_denied);
  const asked = sum(answer.newly_asked);
  const allowed = sum(answer.newly_allowed);
  return (
    <>
      <p className="lead">
        {denied + asked + allowed === 0
          ? `All of the ${plural(answer.calls, "call")} would have ended as they did.`
          : `${plural(answer.unchanged, "call")} of ${count(answer.calls)} would have ended as they did.`}
      </p>
      <dl className="sim">
        <Part name="newly denied" tone="denied" calls={denied} of={answer.calls} />
        <Part name="newly asked" tone="asked" calls={asked} of={answer.calls} />
        <Part name="newly allowed" tone="ok" calls={allowed} of={answer.calls} />
        <Part name="the same" tone="cancelled" calls={answer.unchanged} of={answer.calls} />
      </dl>
      {answer.unknown + answer.undecided > 0 && (
        <p className="quiet">
          {answer.unknown > 0 &&
            `${plural(answer.unknown, "call")} could not be judged: what they did was cut. `}
          {answer.undecided > 0 && `${plural(answer.undecided, "call")} ended before anything was decided.`}
        </p>
      )}
      <Changes title="Would have been denied" tone="denied" word="denied" changes={answer.newly_denied} />
      <Changes title="Would have been asked about" tone="asked" word="asked" changes={answer.newly_asked} />
      <Changes title="Would have been allowed" tone="ok" word="allowed" changes={answer.newly_allowed} />
      <NeverFired answer={answer} />
    </>
  );
}

function Part(props: {
  readonly name: string;
  readonly tone: Tone;
  readonly calls: number;
  readonly of: number;
}) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        <b>{count(props.calls)}</b>
        <Meter label={props.name} value={props.calls} of={props.of} tone={props.tone} />
      </dd>
    </div>
  );
}

function Changes(props: {
  readonly title: string;
  readonly tone: Tone;
  readonly word: string;
  readonly changes: SimulateAnswer["newly_denied"];
}) {
  if (props.changes.length === 0) return null;
  return (
    <Card title={props.title} end={plural(props.changes.length, "reason")}>
      <ul className="sim-list">
        {props.changes.map((change) => (
          <li key={`${change.tool} ${change.rule}`}>
            <span className="num">{count(change.calls)} ×</span>
            <span className="who">
              <Icon name={toolIcon(change.tool, undefined)} />
              <Cut text={change.tool} />
            </span>
            <span className="what">
              <b>{visible(sentence(change.reason === "" ? "No rule stands against it" : change.reason))}</b>
              <span className="quiet">
                Rule <code>{visibleLine(change.rule)}</code>
              </span>
              <span className="effects inline">
                {change.example.effects.slice(0, 3).map(({ action, resource }) => (
                  <Chip key={`${action} ${resource}`} mono>
                    {visibleLine(`${action} ${resource === "*" ? "anything" : resource}`)}
                  </Chip>
                ))}
              </span>
            </span>
            <span className="end">
              <Status tone={props.tone} word={props.word} />
              <Link
                className="link"
                href={pathTo("live", { query: { call: change.example.call_id } })}
                aria-label={`Example of ${visibleLine(change.tool)}`}
              >
                Example
              </Link>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function NeverFired({ answer }: { readonly answer: SimulateAnswer }) {
  if (answer.never_fired.length === 0) return null;
  return (
    <details className="card never">
      <summary>
        <h2>Rules that no call met</h2>
        <span className="quiet">{plural(answer.never_fired.length, "rule")}</span>
      </summary>
      <ul className="rules">
        {answer.never_fired.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may stand twice
          <li key={index}>
            <span className="verb">{visibleLine(rule.list.replaceAll("_", " "))}</span>
            <span className="what">
              <code>{visibleLine(rule.rule)}</code>
            </span>
            <span className="quiet where" title={rule.file}>
              {placeOf(rule)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
