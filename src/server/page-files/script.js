// Runs in the browser, behind a line that sets STEERING_PATTERN. Text from tools is only ever set as text.

const calls = document.getElementById("calls");
const noCalls = document.getElementById("no-calls");
const connection = document.getElementById("connection");
const toolsChanged = document.getElementById("tools-changed");
const STEERING = new RegExp(STEERING_PATTERN, "gu");
const TONE = {
  ok: "good",
  running: "quiet",
  denied: "warn",
  blocked: "warn",
  cancelled: "warn",
  unknown: "warn",
};
const LOOK_AGAIN_MS = 5000;
const SETTLE_MS = 250;
let planned;

const visible = (text) =>
  String(text).replace(STEERING, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

function cell(row, options) {
  const made = document.createElement(options.head ? "th" : "td");
  made.setAttribute("role", options.head ? "rowheader" : "cell");
  if (options.head) made.scope = "row";
  if (options.tone) made.className = options.tone;
  made.textContent = visible(options.text);
  row.append(made);
  return made;
}

function duration(ms) {
  if (ms === undefined) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function rowOf(call) {
  const row = document.createElement("tr");
  row.setAttribute("role", "row");
  cell(row, { head: true, text: call.tool });
  const why = call.error_message === undefined ? "" : `: ${call.error_message.slice(0, 200)}`;
  cell(row, { text: call.status + why, tone: TONE[call.status] || "bad" });
  cell(row, { text: duration(call.duration_ms), tone: "number" });
  cell(row, { text: new Date(call.started_at).toLocaleString() });
  cell(row, { text: call.door });
  return row;
}

async function showCalls() {
  const answer = await fetch("/v1/calls?limit=10", { credentials: "same-origin" });
  if (!answer.ok) return;
  const found = await answer.json();
  calls.tBodies[0].replaceChildren(...found.calls.map(rowOf));
  calls.hidden = found.calls.length === 0;
  noCalls.hidden = found.calls.length > 0;
}

function planCalls() {
  planned ??= setTimeout(() => {
    planned = undefined;
    showCalls().catch(() => undefined);
  }, SETTLE_MS);
}

const sources = document.getElementById("sources");
const STATE_TONE = {
  ready: "good",
  configured: "quiet",
  connecting: "quiet",
  disabled: "quiet",
  degraded: "warn",
};
let sourcesPlanned;

function troublesOf(source) {
  const retry =
    source.next_retry === undefined
      ? ""
      : ` Tried again at ${new Date(source.next_retry).toLocaleTimeString()}.`;
  const left = source.quarantined.map(({ name, reason }) => `${name} is left out: ${reason}`);
  const why = source.reason === undefined ? "" : `${source.reason}.${retry}`;
  return [why, source.fix === undefined ? "" : `Try: ${source.fix}`, ...left].filter(Boolean).join(" ");
}

function sourceRow(source) {
  const row = document.createElement("tr");
  row.setAttribute("role", "row");
  cell(row, { head: true, text: source.source });
  cell(row, { text: source.state, tone: STATE_TONE[source.state] || "bad" });
  cell(row, { text: source.tools.length, tone: "number" });
  cell(row, { text: troublesOf(source).slice(0, 1000) });
  return row;
}

async function showSources() {
  const answer = await fetch("/v1/sources", { credentials: "same-origin" });
  if (!answer.ok) return;
  const found = (await answer.json()).sources;
  sources.querySelector("tbody").replaceChildren(...found.map(sourceRow));
  sources.hidden = found.length === 0;
}

function planSources() {
  sourcesPlanned ??= setTimeout(() => {
    sourcesPlanned = undefined;
    showSources().catch(() => undefined);
  }, SETTLE_MS);
}

const approvals = document.getElementById("approvals");
const approvalsList = document.getElementById("approvals-list");
const approvalsNote = document.getElementById("approvals-note");
const shown = new Map();
let looking = false;
let lookAgain = false;

// Stricter than elsewhere: whoever approves must see every sign, also what only looks like a blank.
const UNSEEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const exact = (text) => String(text).replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

function paragraph(tag, text, tone) {
  const made = document.createElement(tag);
  made.textContent = exact(text);
  if (tone) made.className = tone;
  return made;
}

function answerButton(question, choice) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = choice.label;
  button.dataset.answer = choice.answer;
  button.addEventListener("click", () => send(question, choice.answer).catch(() => undefined));
  return button;
}

/** Came behind the address that the server printed; kept where no other origin reads it. */
function pageKey() {
  const [, given] = /^#answers=([\w-]+)$/.exec(location.hash) ?? [];
  if (given !== undefined) {
    localStorage.setItem("hermes-answers", given);
    history.replaceState(null, "", "/");
  }
  return localStorage.getItem("hermes-answers") ?? "";
}
const PAGE_KEY = pageKey();

async function post(path, body) {
  const got = await fetch(path, {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json", "x-hermes-page": PAGE_KEY },
    body: JSON.stringify(body),
  });
  const said = await got.json();
  return { ok: got.ok, said, trouble: got.ok ? "" : `${said.error.message} ${said.error.hint ?? ""}` };
}

const changes = document.getElementById("changes");
const changesList = document.getElementById("changes-list");
const changesNote = document.getElementById("changes-note");

async function showChanges() {
  const answer = await fetch("/v1/changes", { credentials: "same-origin" });
  if (!answer.ok) return;
  const waiting = (await answer.json()).changes;
  changes.hidden = waiting.length === 0 && changesNote.hidden;
  if (waiting.length === 0) return changesList.replaceChildren();
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Take up";
  button.addEventListener("click", async () => {
    const { ok, trouble } = await post("/v1/changes", { changes: waiting });
    changesNote.textContent = exact(ok ? "Taken up." : trouble);
    changesNote.hidden = false;
    await showChanges();
  });
  const items = waiting.map(({ path }) => paragraph("li", path));
  changesList.replaceChildren(...items, button);
}

async function send(question, answer) {
  const { id, hash, signature } = question;
  const { ok, said, trouble } = await post("/v1/approvals", { id, hash, signature, answer });
  approvalsNote.textContent = exact(ok ? `${question.tool}: ${said.status}` : trouble);
  approvalsNote.hidden = false;
  await showApprovals();
}

function wholeText(question) {
  const texts = Object.entries(question.args).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return texts.length === 0 ? question.what : texts.join("\n");
}

function questionItem(question) {
  const item = document.createElement("li");
  const pre = paragraph("pre", wholeText(question));
  pre.tabIndex = 0;
  const left = paragraph("span", "", "quiet");
  const place = `${question.environment}, ${question.cwd}, rule ${question.rule}, asked by ${question.door}`;
  const buttons = document.createElement("p");
  buttons.append(
    answerButton(question, { answer: "once", label: "Approve once" }),
    answerButton(question, { answer: "deny", label: "Deny" }),
    left,
  );
  item.append(
    paragraph("strong", `${question.tool}: ${question.reason}`),
    pre,
    paragraph("p", place, "quiet"),
    buttons,
  );
  return { item, left, question };
}

function countDown() {
  for (const { left, question } of shown.values()) {
    const seconds = Math.max(0, Math.round((question.expires_at - Date.now()) / 1000));
    const gone = question.owner_alive
      ? ""
      : "; the process that asked is gone, approve it with: hermes approvals approve " +
        question.id +
        " --resume";
    left.textContent = exact(`${seconds} s left${gone}`);
  }
}

async function showApprovals() {
  if (looking) {
    lookAgain = true;
    return;
  }
  looking = true;
  try {
    do {
      lookAgain = false;
      const answer = await fetch("/v1/approvals", { credentials: "same-origin" });
      if (!answer.ok) return;
      const found = (await answer.json()).approvals;
      const ids = new Set(found.map((question) => question.id));
      // Questions that stay keep their place and focus while somebody is about to press a button.
      for (const [id, { item }] of shown)
        if (!ids.has(id)) {
          item.remove();
          shown.delete(id);
        }
      for (const question of found.toReversed())
        if (!shown.has(question.id)) {
          const made = questionItem(question);
          shown.set(question.id, made);
          approvalsList.append(made.item);
        }
      approvals.hidden = shown.size === 0 && approvalsNote.hidden;
      countDown();
    } while (lookAgain);
  } finally {
    looking = false;
  }
}

setInterval(countDown, 1000);

for (const moment of document.querySelectorAll("time"))
  moment.textContent = new Date(moment.dateTime).toLocaleString();

const events = new EventSource("/v1/events");
events.addEventListener("open", () => {
  connection.textContent = "Live";
  planCalls();
  planSources();
  showChanges().catch(() => undefined);
  showApprovals().catch(() => undefined);
});
events.addEventListener("error", () => {
  connection.textContent = "Not connected; trying again";
});
events.addEventListener("message", (message) => {
  const { type } = JSON.parse(message.data);
  if (type.startsWith("reload.")) showChanges().catch(() => undefined);
  if (type.startsWith("approval.")) showApprovals().catch(() => undefined);
  if (type === "source.changed" || type === "tools.changed") planSources();
  if (type === "tools.changed" || type === "tool.availability") toolsChanged.hidden = false;
  else if (type !== "call.progress") planCalls();
});
// Calls of other Hermes processes are in the journal too, but send no event here.
setInterval(() => {
  if (document.hidden) return;
  planCalls();
  showApprovals().catch(() => undefined);
}, LOOK_AGAIN_MS);
