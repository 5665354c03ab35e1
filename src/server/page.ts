import { tookText } from "../base/human.js";
import { ownCommand } from "../base/own-command.js";
import type { JournalRow } from "../call/journal.js";
import type { ToolListing } from "../runtime/definitions.js";
import { VERSION } from "../version.js";
import { type Html, html } from "./html.js";

const MAX_TOOLS = 1_000;
const MAX_DESCRIPTION = 240;
const MAX_MESSAGE = 200;

/** The page at `/`: the tools, whether they are ready, and the last calls. */
export function pageHtml(content: {
  readonly tools: readonly ToolListing[];
  readonly calls: readonly JournalRow[];
  readonly journal: boolean;
}): string {
  return documentOf({
    title: "Hermes Tools",
    body: html`<header>
<h1>Hermes Tools <span class="quiet">${VERSION}</span></h1>
<p class="quiet">${summary(content.tools)} <span id="connection" role="status"></span></p>
</header>
<main>
${APPROVALS_SECTION}
${CHANGES_SECTION}
${callsSection(content)}
${SOURCES_SECTION}
${toolsSection(content.tools)}
</main>
<footer><a href="/openapi.json">API description</a></footer>`,
  });
}

function documentOf(page: { readonly title: string; readonly body: Html }): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<link rel="icon" href="/page-icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
${page.body}
</body>
</html>
`.text;
}

function summary(tools: readonly ToolListing[]): string {
  const on = tools.filter((tool) => tool.enabled);
  const ready = on.filter((tool) => tool.available).length;
  const parts = [`${ready} ${ready === 1 ? "tool" : "tools"} ready`];
  if (on.length > ready) parts.push(`${on.length - ready} need set-up`);
  if (tools.length > on.length) parts.push(`${tools.length - on.length} switched off`);
  return `${parts.join(", ")}.`;
}

/** Filled by the script: a question is shown only while somebody can still answer it. */
const APPROVALS_SECTION = html`<section id="approvals" aria-labelledby="approvals-title" hidden>
<h2 id="approvals-title">Waiting for approval</h2>
<ul id="approvals-list" role="list"></ul>
<p id="approvals-note" class="notice" role="status" hidden></p>
</section>`;

/** Filled by the script: settings and tools that have changed and wait for a yes. */
const CHANGES_SECTION = html`<section id="changes" aria-labelledby="changes-title" hidden>
<h2 id="changes-title">Changed, and not in force</h2>
<ul id="changes-list" role="list"></ul>
<p id="changes-note" class="notice" role="status" hidden></p>
</section>`;

/** Filled by the script, which hears of every change. */
const SOURCES_SECTION = html`<section id="sources" aria-labelledby="sources-title" hidden>
<h2 id="sources-title">Where tools come from</h2>
<table role="table" aria-labelledby="sources-title">
${headRow(["Source", "State", "Tools", "What is wrong, and what to do"])}
<tbody role="rowgroup"></tbody>
</table>
</section>`;

function callsSection({
  calls,
  journal,
}: {
  readonly calls: readonly JournalRow[];
  readonly journal: boolean;
}): Html {
  const empty = journal
    ? html`<p>No calls yet. Type <code>${ownCommand()} call system_info</code> in a terminal.</p>`
    : html`<p>Calls are not recorded. To keep a journal, type <code>${ownCommand()} config set journal.enabled true</code>
and start the server again.</p>`;
  return html`<section aria-labelledby="calls-title">
<h2 id="calls-title">Last calls</h2>
<div id="no-calls" class="empty"${hiddenIf(calls.length > 0)}>${empty}</div>
<table id="calls" role="table" aria-labelledby="calls-title"${hiddenIf(calls.length === 0)}>
${headRow(["Tool", "Status", "Duration", "Time", "Door"])}
<tbody role="rowgroup">
${calls.map(callRow)}
</tbody>
</table>
</section>`;
}

const TONES: Readonly<Record<JournalRow["status"], string>> = {
  ok: "good",
  running: "quiet",
  error: "bad",
  timeout: "bad",
  denied: "warn",
  blocked: "warn",
  cancelled: "warn",
  unknown: "warn",
};

function callRow(call: JournalRow): Html {
  const why = call.error_message === undefined ? "" : `: ${call.error_message.slice(0, MAX_MESSAGE)}`;
  const at = isoTime(call.started_at);
  return html`<tr role="row">
<th role="rowheader" scope="row">${call.tool}</th>
<td role="cell" class="${TONES[call.status] ?? "bad"}">${call.status}${why}</td>
<td role="cell" class="number">${call.duration_ms === undefined ? "–" : tookText(call.duration_ms)}</td>
<td role="cell"><time datetime="${at}">${at}</time></td>
<td role="cell">${call.door}</td>
</tr>
`;
}

function toolsSection(tools: readonly ToolListing[]): Html {
  const sorted = tools.toSorted(
    (first, second) => compare(first.toolset, second.toolset) || compare(first.name, second.name),
  );
  const list =
    tools.length === 0
      ? html`<div class="empty"><p>No tools are registered. Type <code>${ownCommand()} doctor</code> in a terminal to see why.</p></div>`
      : html`<table role="table" aria-labelledby="tools-title">
${headRow(["Tool", "Toolset", "What it does", "State"])}
<tbody role="rowgroup">
${sorted.slice(0, MAX_TOOLS).map(toolRow)}
</tbody>
</table>`;
  return html`<section aria-labelledby="tools-title">
<h2 id="tools-title">Tools</h2>
<p id="tools-changed" class="notice" role="status" hidden>The tools have changed. <a href="/">Show them</a></p>
${list}
${
  tools.length > MAX_TOOLS
    ? html`<p>${tools.length - MAX_TOOLS} more: type <code>${ownCommand()} tools list</code>.</p>`
    : html``
}
</section>`;
}

function toolRow(tool: ToolListing): Html {
  return html`<tr role="row">
<th role="rowheader" scope="row">${tool.emoji} ${tool.name}</th>
<td role="cell">${tool.toolset}</td>
<td role="cell">${brief(tool.description)}</td>
<td role="cell">${stateOf(tool)}</td>
</tr>
`;
}

function stateOf(tool: ToolListing): Html {
  if (!tool.enabled) return html`<span class="quiet">off: ${tool.because}</span>`;
  if (tool.available) return html`<span class="good">ready</span>`;
  const fix = tool.fix === undefined ? html`` : html` <code>${tool.fix}</code>`;
  return html`<span class="warn">needs set-up: ${tool.reason ?? "its check said no"}</span>${fix}`;
}

function headRow(titles: readonly string[]): Html {
  const cells = titles.map((title) => html`<th role="columnheader" scope="col">${title}</th>`);
  return html`<thead role="rowgroup"><tr role="row">${cells}</tr></thead>`;
}

function hiddenIf(hidden: boolean): Html {
  return hidden ? html` hidden` : html``;
}

function brief(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1)}…`;
}

/** A damaged row may hold any number as its time. */
function isoTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "unknown" : time.toISOString();
}

function compare(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0;
}
