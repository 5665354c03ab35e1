// Results as text for the terminal and as Markdown for the documentation.
import { PEERS } from "./contestants.mjs";

const START = "<!-- bench:start (written by npm run bench) -->";
const END = "<!-- bench:end -->";

const LABELS = {
  bare: "the bare async function",
  "bare-text": "the same between JSON.parse and JSON.stringify",
  validated: "arguments checked, then the function",
  hermes: "**Hermes Tools, whole path**",
  "hermes-text": "**Hermes Tools, arguments as JSON text**",
  "hermes-one-message": "**Hermes Tools, as one message**",
  "hermes-journal": "**Hermes Tools with journal, one by one**",
  "hermes-journal-8": "**Hermes Tools with journal, 8 in flight**",
  "hermes-8": "Hermes Tools without journal, 8 in flight",
  "synced-append": "a bare append with fdatasync",
  "bare-spawn": "bare spawn of bash",
  "bare-spawn-1gb": "bare spawn of bash, 1 GB held",
  "bare-reader-ascii": "plain node reader, ASCII",
  "bare-reader-unicode": "plain node reader, other signs in every line",
  "bare-pty": "bare node-pty",
  "bare-ssh": "bare multiplexed ssh",
  "bare-docker": "the bare engine API",
  "terminal-echo": "**the terminal tool**",
  "terminal-echo-unguarded": "the terminal tool, no guard",
  "terminal-echo-journal": "**the terminal tool, with the durable journal**",
  "terminal-true": "the terminal tool, `true`, nothing written down",
  "terminal-true-journal": "**the same with journal and counting**",
  "terminal-true-traced": "**the same with traces, too**",
  "terminal-echo-1gb": "**the terminal tool, 1 GB held**",
  "environment-output-ascii": "**bounded by the environment, ASCII**",
  "environment-output-unicode": "**bounded by the environment, other signs in every line**",
  "environment-pty": "**spawn of the environment, `pty`**",
  "terminal-pty": "**the terminal tool, `pty`**",
  "terminal-ssh": "**the terminal tool over ssh**",
  "terminal-docker": "**the terminal tool in a container**",
  "bare-open": "bare playwright, goto and snapshot",
  "browser-open": "**browser_navigate with its snapshot**",
  "bare-snapshot": "bare playwright, snapshot again",
  "browser-snapshot": "**browser_snapshot**",
  "hermes-agent": "**our agent, everything written down**",
  "hermes-agent-memory": "our agent, nothing written down",
  "openai-agents-agent": "@openai/agents",
  "openai-agents-agent-streamed": "@openai/agents, streamed",
  "langchain-agent": "LangChain's agent",
  "langchain-agent-streamed": "LangChain's agent, streamed",
  "first-token": "**first token of an answer, median**",
  "first-token-p95": "**first token of an answer, p95**",
  "slowest-token": "slowest token of an answer, median",
  "slowest-token-p95": "slowest token of an answer, p95",
  ...Object.fromEntries(Object.entries(PEERS).map(([id, { label }]) => [id, label])),
  ...Object.fromEntries(Object.entries(PEERS).map(([id, { label }]) => [`${id}-8`, `${label}, 8 in flight`])),
};

const COMMAND_SECTIONS = [
  ["terminal", "One command: `echo hi`"],
  ["telemetry", "What watching costs"],
  ["memory-spawn", "One command from a large process"],
  ["output", "100 MB of output"],
  ["pty", "One command in a terminal"],
  ["ssh-exec", "One command over ssh"],
  ["docker-exec", "One command in a container"],
  ["browser", "A page in the browser"],
  ["agent-loop", "A turn of an agent"],
  ["first-token", "Tokens on their way"],
];

/** The table people read at the end of a run. */
export function terminalTable(figures) {
  const rows = figures.map(({ what, limit, unit, value, best, pass }) => [
    pass === null ? "·" : pass ? "✓" : "✗",
    what,
    value === null ? "not measured" : shown(value, unit),
    `limit ${shown(limit, unit)}`,
    best === null ? "" : `best ${shown(best, unit)}`,
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function markdown(results) {
  const { parts, figures } = results;
  const sections = [
    `Node ${results.node}, ${results.date.slice(0, 10)}. Every number is the median of rounds taken in turn; “best” compares the quickest rounds.`,
    table(
      ["", "figure", "measured", "limit", "best"],
      figures.map(({ what, limit, unit, value, best, pass }) => [
        pass === null ? "·" : pass ? "✓" : "✗",
        what,
        value === null ? "–" : shown(value, unit),
        shown(limit, unit),
        best === null ? "–" : shown(best, unit),
      ]),
    ),
    parts.calls && section("One call", timesTable(parts.calls.microseconds, "µs")),
    parts.journal &&
      section("One call with the durable journal", timesTable(parts.journal.microseconds, "µs")),
    parts.scale && section("With many tools", scaleTable(parts.scale)),
    parts.parallel && section("A thousand calls at once", timesTable(parts.parallel.microseconds, "µs")),
    parts.cold && section("Cold start", timesTable(parts.cold.milliseconds, "ms")),
    parts.cold && section("Peak memory", timesTable(parts.cold.megabytes, "MB")),
    parts.verdicts &&
      section("Verdict of the danger analysis", timesTable(parts.verdicts.milliseconds, "ms")),
    ...COMMAND_SECTIONS.map(([part, title]) => {
      const { microseconds, milliseconds } = parts[part] ?? {};
      const times = microseconds ?? milliseconds ?? {};
      return Object.keys(times).length > 0 && section(title, timesTable(times, microseconds ? "µs" : "ms"));
    }),
    leftOutLines(parts),
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** Puts `text` between the markers of a document; throws when they are not there. */
export function betweenMarkers(document, text) {
  const from = document.indexOf(START);
  const to = document.indexOf(END);
  if (from < 0 || to < from) {
    throw new Error(
      `The document has no place for the table; put ${START} and ${END} on lines of their own.`,
    );
  }
  return `${document.slice(0, from + START.length)}\n\n${text}\n\n${document.slice(to)}`;
}

function timesTable(times, unit) {
  return table(
    ["", `median, ${unit}`, `least, ${unit}`],
    Object.entries(times).map(([id, { median, min }]) => [LABELS[id] ?? id, number(median), number(min)]),
  );
}

/** One row per operation, one column per number of tools. */
function scaleTable({ microseconds }) {
  const rows = new Map();
  const sizes = new Set();
  for (const [id, { median }] of Object.entries(microseconds)) {
    const [, operation, size] = /^(.+)-(\d+)$/.exec(id);
    sizes.add(Number(size));
    rows.set(operation, { ...rows.get(operation), [size]: median });
  }
  const columns = [...sizes].sort((a, b) => a - b);
  return table(
    ["median, µs", ...columns.map((size) => `${number(size)} tools`)],
    [...rows].map(([operation, values]) => [
      scaleLabel(operation),
      ...columns.map((size) => (values[size] === undefined ? "" : number(values[size]))),
    ]),
  );
}

function scaleLabel(operation) {
  const own = {
    hermes: "**one call**",
    remembered: "**definitions, asked again**",
    rebuilt: "**definitions, rebuilt**",
    "rebuilt-as-text": "**definitions, rebuilt and written as JSON**",
    stringify: "JSON.stringify of the definitions alone",
    register: "**registering them all**",
  };
  const listed = operation.replace(/-list$/, "");
  if (operation !== listed) return `${packageOf(listed)}, definitions as JSON`;
  return own[operation] ?? LABELS[operation] ?? operation;
}

function packageOf(peer) {
  return PEERS[peer]?.package ?? peer;
}

function leftOutLines(parts) {
  const all = Object.assign({}, ...Object.values(parts).map(({ leftOut }) => leftOut));
  const lines = Object.entries(all).map(([id, reason]) => `- ${id}: ${reason}`);
  return lines.length === 0 ? undefined : `Left out:\n\n${lines.join("\n")}`;
}

function section(title, body) {
  return `### ${title}\n\n${body}`;
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

function shown(value, unit) {
  return `${number(value)} ${unit}`;
}

function number(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 1 ? 3 : value < 100 ? 2 : 0 });
}
