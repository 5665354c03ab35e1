import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api/client.js";
import { infoQuery } from "../../api/queries.js";
import type { Setting, SettingsAnswer } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { setPreferences, type Theme, usePreferences } from "../../lib/settings.js";
import { visibleLine } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { Button } from "../../ui/button.js";
import { FilterField, Segmented, Select, Switch } from "../../ui/controls.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { SettingRow } from "./setting-row.js";
import { groupOf } from "./values.js";
import { WaitingChanges } from "./waiting-changes.js";
import "./settings.css";

const SHORT_FORMS: ReadonlySet<string> = new Set(["mcp", "rl", "stt", "tts", "acp", "lsp"]);

/** How this browser shows the dashboard; it is no setting of the server. */
const THIS_BROWSER = "this browser";

export default function SettingsPage() {
  const { query } = usePlace();
  const words = query.q ?? "";
  const onlyOwn = query.own === "1";
  const info = useQuery(infoQuery);
  const asked = useQuery({
    queryKey: ["settings", "all"],
    queryFn: ({ signal }) => get<SettingsAnswer>("/v1/settings", { signal }),
  });
  const all = asked.data ?? [];
  const found = useMemo(
    () => all.filter((setting) => isMeant(setting, { words, onlyOwn })),
    [all, words, onlyOwn],
  );
  const groups = useMemo(() => countGroups(found), [found]);
  const isSearch = words !== "" || onlyOwn;
  const group = query.group ?? (isSearch ? undefined : (groups[0]?.name ?? ""));
  const shown = group === undefined ? found : found.filter(({ key }) => groupOf(key) === group);
  const names = [...groups.map(({ name }) => name), THIS_BROWSER];
  const step = (by: number) => {
    const next = names[names.indexOf(group ?? "") + by];
    if (next !== undefined) setQuery({ group: next });
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  const own = all.filter(({ origin }) => origin.source !== "default").length;
  return (
    <PageFrame
      title="Settings"
      state={stateOf(asked, all.length === 0)}
      fact={
        asked.data === undefined ? undefined : (
          <span className="cut">
            {`${plural(all.length, "setting")}, ${own} set`}
            {info.data !== undefined && <span className="opt"> · home {visibleLine(info.data.home)}</span>}
          </span>
        )
      }
      controls={
        <Segmented
          label="Which"
          value={onlyOwn ? "own" : "all"}
          options={[
            { value: "all", label: "All" },
            { value: "own", label: "Set" },
          ]}
          onChange={(value) => setQuery({ own: value === "own" ? "1" : undefined, group: undefined })}
        />
      }
    >
      <WaitingChanges />
      {asked.data === undefined ? (
        asked.isError ? (
          <ErrorState
            title="The settings could not be read"
            error={asked.error}
            stillWorks="What is in force stays in force."
            onRetry={() => void asked.refetch()}
            busy={asked.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : (
        <div className="split settings">
          <div className="rail">
            <div className="find">
              <FilterField
                label="Find a setting"
                placeholder="Find a setting"
                value={words}
                onChange={(value) => setQuery({ q: value === "" ? undefined : value, group: undefined })}
              />
            </div>
            <nav className="scroll group-list" aria-label="Groups" tabIndex={-1}>
              {isSearch && (
                <GroupButton
                  name="everything found"
                  count={found.length}
                  current={group === undefined}
                  onClick={() => setQuery({ group: undefined })}
                />
              )}
              {groups.map(({ name, count }) => (
                <GroupButton
                  key={name}
                  name={name}
                  count={count}
                  current={name === group}
                  onClick={() => setQuery({ group: name })}
                />
              ))}
              <GroupButton
                name={THIS_BROWSER}
                current={group === THIS_BROWSER}
                onClick={() => setQuery({ group: THIS_BROWSER })}
              />
            </nav>
            <div className="group-select">
              <Select
                label="Group"
                value={group ?? ""}
                options={[
                  ...(isSearch ? [{ value: "", label: `Everything found (${found.length})` }] : []),
                  ...names.map((name) => ({ value: name, label: titled(name) })),
                ]}
                onChange={(value) => setQuery({ group: value === "" ? undefined : value })}
              />
            </div>
          </div>
          <div className="scroll" tabIndex={0} role="group" aria-label="Settings">
            {group === THIS_BROWSER ? (
              <ThisBrowser />
            ) : shown.length === 0 ? (
              <Empty
                icon="search"
                title="No setting has these words"
                action={
                  <Button onClick={() => setQuery({ q: undefined, own: undefined, group: undefined })}>
                    Show all
                  </Button>
                }
              />
            ) : (
              <>
                <h2 className="group-title">{titled(group ?? "everything found")}</h2>
                {shown.map((setting) => (
                  <SettingRow key={setting.key} setting={setting} />
                ))}
              </>
            )}
          </div>
        </div>
      )}
    </PageFrame>
  );
}

function GroupButton(props: {
  readonly name: string;
  readonly count?: number;
  readonly current: boolean;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" aria-current={props.current ? "true" : undefined} onClick={props.onClick}>
      <span className="cut">{titled(props.name)}</span>
      {props.count !== undefined && <span className="quiet tab">{props.count}</span>}
    </button>
  );
}

function ThisBrowser() {
  const { theme, singleKeys } = usePreferences();
  return (
    <>
      <h2 className="group-title">{titled(THIS_BROWSER)}</h2>
      <div className="setting">
        <div className="about-it">
          <b>Theme</b>
          <p className="soft">Light, dark, or as the system has it.</p>
        </div>
        <div className="value">
          <Segmented<Theme>
            label="Theme"
            value={theme}
            options={[
              { value: "system", label: "System" },
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
            onChange={(value) => setPreferences({ theme: value })}
          />
        </div>
      </div>
      <div className="setting">
        <div className="about-it">
          <b>Single keys</b>
          <p className="soft">Letters as commands, such as j, k and g; Ctrl K works in any case.</p>
        </div>
        <div className="value">
          <Switch label="Single keys" on={singleKeys} onChange={(on) => setPreferences({ singleKeys: on })} />
        </div>
      </div>
    </>
  );
}

function isMeant(
  { key, description, origin }: Setting,
  { words, onlyOwn }: { readonly words: string; readonly onlyOwn: boolean },
): boolean {
  if (onlyOwn && origin.source === "default") return false;
  const text = `${key} ${description}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function countGroups(settings: readonly Setting[]) {
  const counts = new Map<string, number>();
  for (const { key } of settings) counts.set(groupOf(key), (counts.get(groupOf(key)) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count }));
}

function titled(name: string): string {
  if (SHORT_FORMS.has(name)) return name.toUpperCase();
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
