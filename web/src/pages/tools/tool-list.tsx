import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { post } from "../../api/client.js";
import type { ToolListing } from "../../api/types.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo, setQuery, usePlace } from "../../router.js";
import { Button } from "../../ui/button.js";
import { FilterField, FilterTabs, Switch } from "../../ui/controls.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Status } from "../../ui/status.js";
import { shownName } from "./queries.js";

type Shown = "all" | "ready" | "setup" | "off";

/** All tools by toolset, with what is set aside, what needs set-up, and a switch for each set. */
export function ToolList(props: { readonly tools: readonly ToolListing[] }) {
  const { item, query } = usePlace();
  const shown = (query.show ?? "all") as Shown;
  const words = (query.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const current = item === undefined ? null : list.current?.querySelector("[aria-current]");
    const { top = 0, bottom = 0 } = list.current?.getBoundingClientRect() ?? {};
    const at = current?.getBoundingClientRect();
    // Somebody who came by an address sees its neighbours; who clicks in the list sees nothing move.
    if (at !== undefined && (at.top < top || at.bottom > bottom))
      current?.scrollIntoView({ block: "center" });
  }, [item]);
  const found = props.tools.filter(
    (tool) => (shown === "all" || stateOf(tool) === shown) && words.every((word) => holds(tool, word)),
  );
  const sets = bySet(found);
  const count = (state: Shown) => props.tools.filter((tool) => stateOf(tool) === state).length;
  const move = (step: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  };
  return (
    <aside className="rail" aria-label="All tools">
      <div className="find">
        <FilterField
          label="Find a tool"
          placeholder="Find a tool"
          value={query.q ?? ""}
          onChange={(q) => setQuery({ q })}
        />
      </div>
      <FilterTabs<Shown>
        label="Show"
        value={shown}
        options={[
          { value: "all", label: "All" },
          { value: "ready", label: "Ready", count: count("ready") },
          { value: "setup", label: "Set-up", count: count("setup") },
          { value: "off", label: "Off", count: count("off") },
        ]}
        onChange={(value) => setQuery({ show: value === "all" ? undefined : value })}
      />
      <div
        className="scroll"
        ref={list}
        role="group"
        aria-label="Tools by toolset"
        tabIndex={-1}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined || !(event.target instanceof HTMLAnchorElement)) return;
          event.preventDefault();
          move(step);
        }}
      >
        {[...sets].map(([set, tools]) => (
          <div className="set" key={set} role="group" aria-label={`Toolset ${visibleLine(set)}`}>
            <h2>
              <span className="cut">{visibleLine(set)}</span> <span>{tools.length}</span>
              <SetSwitch set={set} tools={props.tools.filter(({ toolset }) => toolset === set)} />
            </h2>
            {tools.map((tool) => (
              <Item key={tool.name} tool={tool} isCurrent={tool.name === item} />
            ))}
          </div>
        ))}
        {found.length === 0 && (
          <div className="nothing-found">
            <p>No tool is like that.</p>
            <Button onClick={() => setQuery({ q: undefined, show: undefined })}>Show all</Button>
          </div>
        )}
      </div>
    </aside>
  );
}

function bySet(tools: readonly ToolListing[]): ReadonlyMap<string, readonly ToolListing[]> {
  const sets = new Map<string, ToolListing[]>();
  for (const tool of tools) sets.set(tool.toolset, [...(sets.get(tool.toolset) ?? []), tool]);
  return new Map([...sets].sort(([one], [other]) => one.localeCompare(other)));
}

export function stateOf(tool: ToolListing): Exclude<Shown, "all"> {
  if (!tool.enabled) return "off";
  return tool.available ? "ready" : "setup";
}

function holds(tool: ToolListing, word: string): boolean {
  return [tool.name, tool.toolset, tool.description, ...tool.aliases].some((text) =>
    text.toLowerCase().includes(word),
  );
}

function Item(props: { readonly tool: ToolListing; readonly isCurrent: boolean }) {
  const { tool } = props;
  const { query } = usePlace();
  const { name, from } = shownName(tool);
  const state = stateOf(tool);
  return (
    <Link
      className={state === "off" ? "titem off" : "titem"}
      href={pathTo("tools", { item: tool.name, query: { q: query.q, show: query.show } })}
      aria-current={props.isCurrent ? "page" : undefined}
      title={tool.name}
    >
      <Icon name={toolIcon(tool.name, tool.toolset)} />
      <span className="cut">{visibleLine(name)}</span>
      {from !== undefined && <span className="from cut">{visibleLine(from)}</span>}
      {state === "setup" && <Status tone="setup" word={setupWord(tool)} />}
      {state === "off" && <Status tone="cancelled" word="off" />}
    </Link>
  );
}

/** Two words for the list; the reason stands with the tool. */
export function setupWord(tool: ToolListing): string {
  const reason = (tool.reason ?? "").toLowerCase();
  if (tool.requires_env.length > 0 || /key|token|password|credential/.test(reason)) return "needs key";
  if (/program|not installed|not found|executable|install/.test(reason)) return "no program";
  return "needs set-up";
}

/** Writes one setting per tool, one after the other, because each is a change of the same file. */
function SetSwitch(props: { readonly set: string; readonly tools: readonly ToolListing[] }) {
  const queries = useQueryClient();
  const on = props.tools.some(({ enabled }) => enabled);
  const turn = useMutation({
    mutationFn: async (enabled: boolean) => {
      for (const tool of props.tools)
        if (tool.enabled !== enabled) await post(`/v1/tools/${encodeURIComponent(tool.name)}`, { enabled });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  });
  return (
    <Switch
      label={`Offer all of ${visible(props.set)}`}
      on={turn.isPending ? turn.variables : on}
      busy={turn.isPending}
      onChange={(enabled) => turn.mutate(enabled)}
    />
  );
}
