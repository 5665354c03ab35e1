// The promises: what is compared, and how large it may be.

const FIGURES = [
  {
    id: "call-openai-agents",
    what: "one call, journal off, against @openai/agents (both given text)",
    limit: 1,
    unit: "×",
    of: ({ calls }) => calls?.ratios["hermes-text / openai-agents"],
  },
  {
    id: "call-langchain",
    what: "one call, journal off, against LangChain",
    limit: 0.25,
    unit: "×",
    of: ({ calls }) => calls?.ratios["hermes / langchain"],
  },
  {
    id: "call-mcp",
    what: "one call, journal off, against MCP in memory",
    limit: 0.25,
    unit: "×",
    of: ({ calls }) => calls?.ratios["hermes / mcp"],
  },
  {
    id: "journal-langchain",
    what: "one call with the durable journal, 8 in flight, against LangChain without one",
    limit: 1.2,
    unit: "×",
    of: ({ journal }) => journal?.ratios["hermes-journal-8 / langchain"],
  },
  {
    id: "stats-million",
    what: "statistics over 1,000,000 calls, per tool and over time",
    limit: 200,
    unit: "ms",
    of: ({ stats }) => absolute(stats?.milliseconds["stats-1000000"], 1),
  },
  {
    id: "telemetry",
    what: "terminal `true`, whole path, with journal and counting, against without",
    limit: 1.15,
    unit: "×",
    of: ({ telemetry }) => telemetry?.ratios["terminal-true-journal / terminal-true"],
  },
  {
    id: "telemetry-traced",
    what: "terminal `true`, whole path, with journal, counting and traces, against without",
    limit: 1.15,
    unit: "×",
    of: ({ telemetry }) => telemetry?.ratios["terminal-true-traced / terminal-true"],
  },
  {
    id: "flat",
    what: "one call with 10,000 tools registered, against 10",
    limit: 1.3,
    unit: "×",
    of: ({ scale }) => scale?.ratios["hermes-10000 / hermes-10"],
  },
  {
    id: "register",
    what: "registering 10,000 tools",
    limit: 200,
    unit: "ms",
    of: ({ scale }) => absolute(scale?.microseconds["register-10000"], 1e-3),
  },
  {
    id: "definitions-remembered",
    what: "definitions of 10,000 tools, asked again",
    limit: 10,
    unit: "µs",
    of: ({ scale }) => absolute(scale?.microseconds["remembered-10000"], 1),
  },
  {
    id: "definitions-rebuilt",
    what: "definitions of 10,000 tools, rebuilt and written as JSON, against JSON.stringify alone",
    limit: 1.5,
    unit: "×",
    of: ({ scale }) => scale?.ratios["rebuilt-as-text-10000 / stringify-10000"],
  },
  {
    id: "parallel",
    what: "1,000 calls at once, against LangChain",
    limit: 0.3,
    unit: "×",
    of: ({ parallel }) => parallel?.ratios["hermes / langchain"],
  },
  {
    id: "parallel-one-message",
    what: "1,000 calls in one message (ordered by effects), against LangChain",
    limit: 0.3,
    unit: "×",
    of: ({ parallel }) => parallel?.ratios["hermes-one-message / langchain"],
  },
  {
    id: "cold-version",
    what: "hermes --version, against node -e 0",
    limit: 1.6,
    unit: "×",
    of: ({ cold }) => cold?.ratios["hermes --version / node"],
  },
  {
    id: "cold-tools-list",
    what: "hermes tools list, against node -e 0",
    limit: 2.5,
    unit: "×",
    of: ({ cold }) => cold?.ratios["hermes tools list / node"],
  },
  {
    id: "cold-call",
    what: "hermes call sleep seconds=0, against node -e 0",
    limit: 4,
    unit: "×",
    of: ({ cold }) => cold?.ratios["hermes call sleep / node"],
  },
  {
    id: "memory-tools-list",
    what: "peak memory of hermes tools list, against node -e 0",
    limit: 1.8,
    unit: "×",
    of: ({ cold }) => cold?.ratios["memory of tools list / node"],
  },
  {
    id: "verdict",
    what: "verdict on an ordinary command line",
    limit: 0.25,
    unit: "ms",
    of: ({ verdicts }) =>
      verdicts && { paired: verdicts.medianMs, best: verdicts.milliseconds["ordinary line"].min },
  },
  {
    id: "verdict-p99",
    what: "verdict on an ordinary command line, 99th percentile",
    limit: 5,
    unit: "ms",
    of: ({ verdicts }) => verdicts && { paired: verdicts.p99Ms, best: verdicts.p99Ms },
  },
  {
    id: "verdict-4kb",
    what: "verdict on 4 kB, worst shape",
    limit: 5,
    unit: "ms",
    of: ({ verdicts }) => verdicts && { paired: verdicts.worstMs[4_000], best: verdicts.worstMs[4_000] },
  },
  {
    id: "verdict-100kb",
    what: "verdict on 100 kB, worst shape",
    limit: 100,
    unit: "ms",
    of: ({ verdicts }) => verdicts && { paired: verdicts.worstMs[100_000], best: verdicts.worstMs[100_000] },
  },
  {
    id: "terminal",
    what: "terminal `echo hi`, whole path, against a bare spawn of bash",
    limit: 1.35,
    unit: "×",
    of: ({ terminal }) => terminal?.ratios["terminal-echo / bare-spawn"],
  },
  {
    id: "terminal-guard",
    what: "terminal `echo hi` inside the guard, against outside",
    limit: 1.2,
    unit: "×",
    of: ({ terminal }) => terminal?.ratios["terminal-echo / terminal-echo-unguarded"],
  },
  {
    id: "terminal-large",
    what: "terminal `echo hi` with 1 GB held by the runtime, against 50 MB",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["memory-spawn"]?.ratios["terminal-echo-1gb / terminal-echo"],
  },
  {
    id: "terminal-output",
    what: "100 MB through the head and tail bound, against a plain node reader",
    limit: 1.25,
    unit: "×",
    of: ({ output }) => output?.ratios["environment-output-ascii / bare-reader-ascii"],
  },
  {
    id: "terminal-output-unicode",
    what: "the same with signs that are not ASCII in every line",
    limit: 1.5,
    unit: "×",
    of: ({ output }) => output?.ratios["environment-output-unicode / bare-reader-unicode"],
  },
  {
    id: "terminal-pty",
    what: "a program started in a terminal, against bare node-pty",
    limit: 1.2,
    unit: "×",
    of: ({ pty }) => pty?.ratios["environment-pty / bare-pty"],
  },
  {
    id: "terminal-ssh",
    what: "`echo hi` over a warm ssh connection, against bare multiplexed ssh",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["ssh-exec"]?.ratios["terminal-ssh / bare-ssh"],
  },
  {
    id: "terminal-docker",
    what: "`echo hi` in a container, against the bare engine API",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["docker-exec"]?.ratios["terminal-docker / bare-docker"],
  },
  {
    id: "read-lines",
    what: "read_file of 200 lines at line 900,000 of 100 MB, against plain 1 MiB reads",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["read-lines"]?.ratios["read-file / bare-read"],
  },
  {
    id: "search-content",
    what: "search_files over 100,000 files, against bare ripgrep",
    limit: 1.15,
    unit: "×",
    of: ({ search }) => search?.ratios["content / bare-content"],
  },
  {
    id: "search-list",
    what: "search_files listing 100,000 files, against rg --files",
    limit: 1.2,
    unit: "×",
    of: ({ search }) => search?.ratios["list / bare-list"],
  },
  {
    id: "fuzzy-time",
    what: "fuzzy file finding over 100,000 paths, whole call, warm",
    limit: 12,
    unit: "ms",
    of: ({ fuzzy }) => fuzzy && { paired: fuzzy.milliseconds.hermes, best: fuzzy.milliseconds.hermes },
  },
  ...["name", "dir+name", "abbreviation", "typo"].map((kind) => ({
    id: `fuzzy-${kind}`,
    what: `fuzzy file finding: hits in the top ten by ${kind}, best of fzf, fzy and fuzzysort against ours`,
    limit: 1,
    unit: "×",
    of: ({ fuzzy }) =>
      fuzzy?.behindBest?.[kind] === undefined
        ? undefined
        : { paired: fuzzy.behindBest[kind], best: fuzzy.behindBest[kind] },
  })),
  {
    id: "write-file",
    what: "write_file of 1 MB, journaled and undoable, against write + fsync + rename",
    limit: 1.5,
    unit: "×",
    of: (parts) => parts["write-file"]?.ratios["write_file / write-by-hand"],
  },
  {
    id: "script-call",
    what: "one of 1,000 tool calls of a Python script of execute_code",
    limit: 150,
    unit: "µs",
    of: (parts) => absolute(parts["execute-code"]?.microseconds["python-call"], 1),
  },
  {
    id: "quickjs-start",
    what: "an empty script in code mode, warm",
    limit: 5,
    unit: "ms",
    of: ({ quickjs }) => absolute(quickjs?.microseconds["quickjs-start"], 1e-3),
  },
  {
    id: "quickjs-call",
    what: "one tool call of a script in code mode",
    limit: 60,
    unit: "µs",
    of: ({ quickjs }) => absolute(quickjs?.microseconds["quickjs-call"], 1),
  },
  {
    id: "mcp-call",
    what: "one call of an MCP server's tool, journal off, against the bare SDK client",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["mcp-client"]?.ratios["mcp-call / bare-sdk"],
  },
  {
    id: "mcp-fleet",
    what: "p99 of calls to 45 MCP servers beside five that hang or crash, against without the five",
    limit: 1.2,
    unit: "×",
    of: (parts) => parts["mcp-client"]?.ratios["fleet-troubled / fleet-well"],
  },
  {
    id: "mcp-restart",
    what: "an MCP server that crashed answers again, p95",
    limit: 5,
    unit: "s",
    of: (parts) => absolute(parts["mcp-client"]?.microseconds["mcp-restart-p95"], 1e-6),
  },
  {
    id: "mcp-serve",
    what: "one call over hermes mcp serve, journal off, against a server of the bare SDK",
    limit: 1.3,
    unit: "×",
    of: (parts) => parts["mcp-server"]?.ratios["mcp-serve / mcp-bare"],
  },
  {
    id: "http-load",
    what: "a call that runs no command, over HTTP, 200 mixed clients at once, p99",
    limit: 50,
    unit: "ms",
    of: (parts) => absolute(parts["http-load"]?.milliseconds["http-no-command-p99"], 1),
  },
  {
    id: "events-lag",
    what: "the end of a call at 900 of 1,000 readers of events, 100 never read, 200 calls a second, p99",
    limit: 1_000,
    unit: "ms",
    of: ({ events }) => absolute(events?.milliseconds["events-lag-p99-1000"], 1),
  },
  {
    id: "events-memory",
    what: "memory of the server meanwhile",
    limit: 512,
    unit: "MB",
    of: ({ events }) => absolute(events?.megabytes["events-server-1000"], 1),
  },
  {
    id: "dashboard-interactive",
    what: "the dashboard on loopback, until it shows its calls and answers, in a browser that has never seen it",
    limit: 1_000,
    unit: "ms",
    of: ({ dashboard }) => absolute(dashboard?.milliseconds["dashboard-interactive"], 1),
  },
  {
    id: "dashboard-load",
    what: "first load of the dashboard, as it is sent",
    limit: 250,
    unit: "kB",
    of: ({ dashboard }) => absolute(dashboard?.kilobytes["dashboard-first-load"], 1),
  },
  ...["live", "stats"].map((page) => ({
    id: `dashboard-${page}`,
    what: `longest task of the page ${page} while 200 calls a second stream in`,
    limit: 100,
    unit: "ms",
    of: ({ dashboard }) => absolute(dashboard?.milliseconds[`dashboard-longest-task-${page}`], 1),
  })),
  {
    id: "tool-search-query",
    what: "finding a tool among 10,000 by words, p50",
    limit: 0.4,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["lexical-query-10000"], 1),
  },
  {
    id: "tool-search-build",
    what: "index of 10,000 tools",
    limit: 250,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["lexical-build-10000"], 1),
  },
  {
    id: "table-query",
    what: "finding a tool among 10,000 by words and table, p50",
    limit: 2,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["table-query-10000"], 1),
  },
  {
    id: "table-build",
    what: "reading 10,000 tools by the table, in slices",
    limit: 1200,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["table-build-10000"], 1),
  },
  {
    id: "table-slice",
    what: "longest of these slices",
    limit: 10,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["table-slice-10000"], 1),
  },
  {
    id: "table-first",
    what: "first search of a process among 500 tools, the table read from its file",
    limit: 150,
    unit: "ms",
    of: (parts) => absolute(parts["tool-search"]?.milliseconds["table-first-search"], 1),
  },
  {
    id: "session-search",
    what: "finding a passage among 100,000 messages of earlier conversations, p95",
    limit: 20,
    unit: "ms",
    of: (parts) => absolute(parts["session-search"]?.milliseconds["session-search-p95-100000"], 1),
  },
  {
    id: "agent-loop-openai-agents",
    what: "a turn of the agent, everything written down, against @openai/agents that writes nothing",
    limit: 1,
    unit: "×",
    of: (parts) => againstTheQuicker(parts["agent-loop"], "openai-agents-agent"),
  },
  {
    id: "agent-loop-langchain",
    what: "a turn of the agent, everything written down, against LangChain's agent that writes nothing",
    limit: 0.5,
    unit: "×",
    of: (parts) => againstTheQuicker(parts["agent-loop"], "langchain-agent"),
  },
  {
    id: "first-token",
    what: "first token passed on after the model's server wrote it, p95",
    limit: 5,
    unit: "ms",
    of: (parts) => absolute(parts["first-token"]?.milliseconds["first-token-p95"], 1),
  },
  {
    id: "prompt-prefix",
    what: "50 turns: bytes a server with a prompt cache reads anew, against the last prompt's bytes",
    limit: 1,
    unit: "×",
    of: (parts) => parts["prompt-prefix"]?.ratios["anew / last prompt"],
  },
  {
    id: "agent-sessions",
    what: "peak memory of 200 conversations at once in one process",
    limit: 512,
    unit: "MB",
    of: (parts) => absolute(parts["agent-sessions"]?.megabytes["agent-sessions-200"], 1),
  },
  {
    id: "cluster-overhead",
    what: "what a cluster adds to one call, against a bare request and reply over NATS",
    limit: 3,
    unit: "×",
    of: ({ cluster }) => cluster?.ratios["added / bare-nats"],
  },
  {
    id: "cluster-throughput",
    what: "time of calls that wait on 2 workers, against 1 (0.556: 1.8 × the throughput)",
    limit: 0.556,
    unit: "×",
    of: ({ cluster }) => cluster?.ratios["two-workers / one-worker"],
  },
  {
    id: "tools-array",
    what: "tokens of the tools array with 200 tools of servers, with Tool Search against without",
    limit: 0.15,
    unit: "×",
    of: (parts) => parts["tools-array"]?.ratios["with-search / without"],
  },
  {
    id: "pdf-extract",
    what: "pdf_extract of 500 pages, against unpdf alone",
    limit: 1.5,
    unit: "×",
    of: (parts) => parts["pdf-extract"]?.ratios["pdf_extract / unpdf"],
  },
  {
    id: "link-checker",
    what: "link_checker of 1,000 links on a local site, against linkinator",
    limit: 1.2,
    unit: "×",
    of: (parts) => parts["link-checker"]?.ratios["link_checker / linkinator"],
  },
  {
    id: "browser-open",
    what: "browser_navigate with its snapshot, against bare playwright",
    limit: 1.2,
    unit: "×",
    of: ({ browser }) => browser?.ratios["browser-open / bare-open"],
  },
  {
    id: "browser-tokens",
    what: "snapshot of a page with 5,000 elements, what can be clicked still there",
    limit: 8_000,
    unit: "tokens",
    of: ({ browser }) => {
      const tokens = browser?.tokens["page of 5,000 elements"];
      return tokens === undefined ? undefined : { paired: tokens, best: tokens };
    },
  },
];

/** A part that was not measured, or not at full size, leaves its figures without value and verdict. */
export function figuresOf(parts) {
  return FIGURES.map(({ of, ...figure }) => {
    const measured = of(parts);
    if (measured === undefined) return { ...figure, value: null, best: null, pass: null };
    const { paired, best } = measured;
    return { ...figure, value: paired, best, pass: paired <= figure.limit };
  });
}

/** A peer's loop can be asked for everything at the end or for parts as they come. */
function againstTheQuicker(part, peer) {
  const both = [peer, `${peer}-streamed`].map((id) => part?.ratios[`hermes-agent / ${id}`]);
  return both.filter(Boolean).toSorted((a, b) => b.paired - a.paired)[0];
}

function absolute(summary, factor) {
  return summary && { paired: round(summary.median * factor), best: round(summary.min * factor) };
}

function round(value) {
  return Number(value.toPrecision(3));
}
