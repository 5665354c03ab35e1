import { cutToWidth } from "../../base/cell-width.js";
import { visible } from "../../base/visible-text.js";
import { isRefused } from "../../policy/approvals/refusal.js";
import type { McpSource } from "../../sources/mcp/source.js";
import { withApprovals } from "../approvals/store.js";
import { USABLE } from "../mcp/servers.js";
import { brief, tableLines } from "../output.js";
import { localPerson } from "../person.js";
import type { ChatApp } from "./chat-app.js";

const DAY_MS = 86_400_000;

/** Rows of a table, cut to the width of the terminal. */
function table(app: ChatApp, rows: readonly (readonly string[])[]): void {
  const width = app.columns - 3;
  app.print([...tableLines(rows).map((row) => `  ${cutToWidth(row, width)}`), ""]);
}

export async function showTools(app: ChatApp): Promise<void> {
  const { out } = app.parts;
  const { view } = app.chat.agent.session;
  const rows = [...view.entries.values()]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((entry) => {
      const status = view.statuses.get(entry.name);
      const isReady = status?.ok !== false;
      return [
        out.mark(isReady ? "ok" : "error"),
        `${out.emoji(entry.emoji)}${visible(entry.name)}`,
        out.color.dim(entry.toolset),
        isReady ? brief(visible(entry.description)) : out.color.yellow(brief(visible(status?.reason ?? ""))),
      ];
    });
  table(app, rows);
}

export async function showToolsets(app: ChatApp): Promise<void> {
  const { runtime, out } = app.parts;
  const installed = new Set(runtime.registry.snapshot().entries.keys());
  const rows = runtime
    .toolsets()
    .map(({ name, kind, resolved, description }) => [
      name,
      out.color.dim(kind),
      `${resolved.filter((tool) => installed.has(tool)).length} tools`,
      brief(description),
    ]);
  table(app, rows);
}

export async function showServers(app: ChatApp): Promise<void> {
  const { runtime, out } = app.parts;
  const source = runtime.sources.get("mcp") as McpSource | undefined;
  const servers = source?.servers() ?? [];
  if (servers.length === 0) return app.note("No MCP servers. Add one: hermes mcp add NAME -- COMMAND");
  const rows = servers.map(({ name, state, tools, reason, fix }) => [
    name,
    USABLE.has(state) ? out.color.green(state) : out.color.yellow(state),
    `${tools.length} tools`,
    brief(visible([reason, fix].filter(Boolean).join(" → ")), 120),
  ]);
  table(app, rows);
}

/** Questions of other programs; those of this chat are asked where they come up. */
export async function approvals(app: ChatApp, id: string): Promise<void> {
  const { home, out } = app.parts;
  await withApprovals({ home }, async (store) => {
    if (id === "") {
      const waiting = store.list({});
      if (waiting.length === 0) return app.note("Nothing waits for approval.");
      table(
        app,
        waiting.map((record) => [record.id, record.tool, brief(visible(record.shown.what), 100)]),
      );
      return app.note("/approve ID says yes once; hermes approvals has more answers.");
    }
    const record = store.find(id);
    if (record === undefined) return app.note(`Nothing with the id ${id} waits for approval.`);
    const { hash } = record;
    const given = await store.answer({ id, hash, answer: "once", by: localPerson() });
    if (isRefused(given)) return app.note(given.message);
    app.print([`${out.mark("ok")} approved ${id}: ${visible(record.shown.what)}`]);
  });
}

export async function showStats(app: ChatApp): Promise<void> {
  const journal = await app.parts.runtime.journal();
  const { tools: rows } = await journal.stats({ sinceMs: Date.now() - DAY_MS });
  if (rows.length === 0) return app.note("No calls in the last 24 hours.");
  table(app, [
    ["tool", "calls", "errors", "p50 ms", "p95 ms"],
    ...rows.map((row) => [
      row.tool,
      String(row.calls),
      String(row.errors),
      row.p50_ms?.toFixed(1) ?? "-",
      row.p95_ms?.toFixed(1) ?? "-",
    ]),
  ]);
}

export async function showCost(app: ChatApp): Promise<void> {
  const { store, runtime } = app.parts;
  const { agent, model, spent } = app.chat;
  const cost = await store.spent({ session: agent.conversation });
  const { budget_usd: budget } = runtime.config.values.model;
  const isPriced = model.prices !== undefined;
  table(app, [
    ["requests", String(spent.requests)],
    ["tool calls", String(spent.calls)],
    ["tokens read", `${amount(spent.input)} (${amount(spent.cached)} from the cache)`],
    ["tokens written", amount(spent.output)],
    [
      "conversation",
      isPriced ? `$${cost.toFixed(4)}` : "nobody said what this model costs (model.prices.input, .output)",
    ],
    ...(budget > 0 ? [["budget", `$${budget.toFixed(2)}`]] : []),
  ]);
}

function amount(count: number): string {
  return count.toLocaleString("en-US");
}
