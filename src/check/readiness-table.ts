import type { BuiltinEntry } from "../registry/manifest-types.js";
import { STATIC_TOOLSETS } from "../registry/toolset-table.js";
import type { Needs } from "../tool/tool.js";

const BEGIN = "<!-- tools: written by UPDATE_DOCS=1 npx vitest run test/tools/pages.test.ts -->";
const END = "<!-- /tools -->";

/** Domains in the order a reader meets them; the first that has a tool shows it. */
const DOMAINS: readonly (readonly [title: string, toolsets: readonly string[]])[] = [
  ["System", ["system"]],
  ["Files", ["files", "file"]],
  ["Code", ["code"]],
  ["Network", ["network", "web"]],
  ["Browser", ["browser"]],
  ["Multimedia", ["multimedia", "tts", "vision"]],
  ["Platform", ["platform"]],
  ["Messages", ["messaging"]],
  ["Smart home", ["homeassistant"]],
  ["Training", ["rl"]],
  ["Memory of people", ["honcho"]],
];
const OTHERS = "Agent";

const COLUMNS = ["at once", "command", "key"] as const;
type Column = (typeof COLUMNS)[number];

/** The README with its table of tools as they are now; unchanged when it has no place for one. */
export function withReadinessTable(readme: string, tools: readonly BuiltinEntry[]): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) return readme;
  return `${readme.slice(0, begin)}${BEGIN}\n${readinessTable(tools)}\n${readme.slice(end)}`;
}

/** Tools per domain: which are ready at once, after one command, with a key. */
export function readinessTable(tools: readonly BuiltinEntry[]): string {
  const titles = [...DOMAINS.map(([title]) => title), OTHERS];
  const rows = titles.flatMap((title) => {
    const own = tools.filter((tool) => domainOf(tool) === title);
    if (own.length === 0) return [];
    const cells = COLUMNS.map((column) =>
      own
        .filter((tool) => columnOf(tool) === column)
        .map((tool) => `\`${tool.name}\`${programsOf(tool)}`)
        .join(" "),
    );
    return [`| ${title} (${own.length}) | ${cells.join(" | ")} |`];
  });
  const counts = COLUMNS.map((column) => tools.filter((tool) => columnOf(tool) === column).length);
  return [
    `| ${tools.length} tools | ready at once (${counts[0]}) | after one command (${counts[1]}) | with a key or an address (${counts[2]}) |`,
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function domainOf(tool: BuiltinEntry): string {
  const found = DOMAINS.find(([, toolsets]) =>
    toolsets.some(
      (name) => name === tool.toolset || STATIC_TOOLSETS.get(name)?.tools.includes(tool.name) === true,
    ),
  );
  return found?.[0] ?? OTHERS;
}

function columnOf({ needs }: BuiltinEntry): Column {
  return needs === undefined ? "at once" : columnOfNeeds(needs);
}

/** Of several ways the easiest one counts; of several needs the hardest. */
function columnOfNeeds(needs: Needs): Column {
  // A program that is one way among others need not be there, and its name would not say what is missing.
  const ways = (needs.anyOf ?? []).map((way) =>
    way.programs !== undefined && columnOfNeeds(way) === "at once" ? "command" : columnOfNeeds(way),
  );
  const easiest = COLUMNS.find((column) => ways.includes(column)) ?? "at once";
  const own: Column =
    needs.anyEnv !== undefined || needs.anySetting !== undefined
      ? "key"
      : [...(needs.packages ?? []), ...(needs.models ?? [])].length > 0
        ? "command"
        : "at once";
  return COLUMNS[Math.max(COLUMNS.indexOf(easiest), COLUMNS.indexOf(own))] ?? own;
}

/** Where a program of the machine is all it needs, its name stands behind. */
function programsOf({ needs }: BuiltinEntry): string {
  const programs = needs?.programs ?? [];
  return programs.length === 0 ? "" : ` (${programs.join(", ")})`;
}
