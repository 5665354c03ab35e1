import type { PermissionsAnswer, ProfileLine } from "../../api/types.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Chip, Cut } from "../../ui/bits.js";
import { ButtonLink } from "../../ui/button.js";
import { FilterField } from "../../ui/controls.js";
import { Status, StatusIcon, type Tone } from "../../ui/status.js";

type Rule = PermissionsAnswer["rules"][number];

const SOURCES: Readonly<Record<ProfileLine["source"], string>> = {
  builtin: "built-in",
  home: "yours",
  project: "of the project",
  managed: "of the administrator",
};

export function Profiles({ permissions }: { readonly permissions: PermissionsAnswer }) {
  const { query } = usePlace();
  const { profiles, current } = permissions;
  const shown =
    profiles.find(({ name }) => name === query.profile) ??
    profiles.find(({ active }) => active) ??
    profiles[0];
  const step = (by: number) => {
    const at = shown === undefined ? -1 : profiles.indexOf(shown);
    const next = profiles[at + by];
    if (next !== undefined) choose(next.name);
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  const choose = (name: string) => setQuery({ profile: name === current ? undefined : name });
  return (
    <div className="split perms">
      <nav className="rail" aria-label="Profiles">
        <ul className="profile-list">
          {profiles.map((profile) => (
            <li key={profile.name}>
              <button
                type="button"
                aria-current={profile === shown ? "true" : undefined}
                onClick={() => choose(profile.name)}
              >
                <span className="row-flex">
                  <Cut className="name grow" text={profile.name} />
                  {profile.active && <Status tone="ok" word="in force" calm />}
                </span>
                <Cut className="quiet" text={profile.description || SOURCES[profile.source]} />
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {shown !== undefined && <Profile profile={shown} permissions={permissions} />}
    </div>
  );
}

function Profile(props: { readonly profile: ProfileLine; readonly permissions: PermissionsAnswer }) {
  const { profile, permissions } = props;
  const { query } = usePlace();
  const filter = query.q ?? "";
  const rules = (profile.active ? permissions.rules : ownRules(profile)).filter(({ text, list, level }) =>
    `${text} ${list} ${level}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const levels = [...new Set(rules.map(({ level }) => level))];
  return (
    <div
      className="scroll perm-body"
      tabIndex={0}
      role="group"
      aria-label={`Profile ${visibleLine(profile.name)}`}
    >
      <header className="perm-head">
        <div className="row-flex">
          <h2 className="grow">{visibleLine(profile.name)}</h2>
          {profile.active && <Status tone="ok" word="in force" pill />}
        </div>
        {profile.description !== "" && <p className="soft">{visible(profile.description)}</p>}
        <div className="chips">
          <Chip>{SOURCES[profile.source]}</Chip>
          {profile.file !== "" && profile.source !== "builtin" && (
            <Chip
              mono
            >{`${visibleLine(profile.file)}${profile.line === null ? "" : `:${profile.line}`}`}</Chip>
          )}
          {profile.extends.map((name) => (
            <Chip key={name}>extends {visibleLine(name)}</Chip>
          ))}
          {profile.restrictions.map((name) => (
            <Chip key={name}>{visibleLine(name)}</Chip>
          ))}
        </div>
        <div className="actions">
          <ButtonLink
            icon="rerun"
            href={pathTo("permissions", { query: { tab: "simulate", profile: profile.name } })}
          >
            Simulate over recorded calls
          </ButtonLink>
          <ButtonLink
            icon="permissions"
            look="plain"
            href={pathTo("permissions", { query: { tab: "explain", profile: profile.name } })}
          >
            Explain a call
          </ButtonLink>
        </div>
      </header>
      <div className="filters flat">
        <FilterField
          label="Find a rule"
          placeholder="Find a rule"
          value={filter}
          onChange={(value) => setQuery({ q: value === "" ? undefined : value })}
        />
        <span className="quiet opt">{plural(rules.length, "rule")}</span>
      </div>
      {rules.length === 0 && (
        <p className="quiet pad">
          {filter === "" ? "It has no rules of its own." : "No rule has these words."}
        </p>
      )}
      {levels.map((level) => (
        <section key={level} aria-label={visibleLine(level)}>
          <h3 className="level">{level === "global" ? "For every profile" : visibleLine(level)}</h3>
          <ul className="rules">
            {rules
              .filter((rule) => rule.level === level)
              .map((rule, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may stand twice
                <RuleRow key={index} rule={rule} />
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function RuleRow({ rule }: { readonly rule: Rule }) {
  const tone = toneOfList(rule.list);
  return (
    <li data-st={tone}>
      <span className="verb">
        {tone !== undefined && <StatusIcon tone={tone} />}
        {wordOf(rule.list)}
      </span>
      <span className="what">
        <code>{visibleLine(rule.text)}</code>
        {rule.reason !== undefined && <span className="quiet">{visible(rule.reason)}</span>}
      </span>
      <span className="quiet where" title={rule.file}>
        {placeOf(rule)}
      </span>
    </li>
  );
}

function ownRules({ name, file, line, ...lists }: ProfileLine): readonly Rule[] {
  const level = `profile:${name}`;
  return (["allow", "deny", "approval_required"] as const).flatMap((list) =>
    lists[list].map((text) => ({ level, list, text, file, line: line ?? undefined })),
  );
}

function toneOfList(list: string): Tone | undefined {
  if (/deny|denied/.test(list)) return "denied";
  if (/ask|approval/.test(list)) return "asked";
  return /allow/.test(list) ? "ok" : undefined;
}

function wordOf(list: string): string {
  return list.replace("approval_required", "ask").replaceAll("_", " ");
}

export function placeOf({
  file,
  line,
}: {
  readonly file: string;
  readonly line?: number | undefined;
}): string {
  if (file === "" || file.startsWith("builtin")) return "built-in";
  return visibleLine(`${file.split("/").at(-1)}${line === undefined ? "" : `:${line}`}`);
}
