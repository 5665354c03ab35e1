/** Runs in the browser. Text from tools is only ever set as text. */
export const PAGE_SCRIPT = String.raw`"use strict";
(() => {
  const calls = document.getElementById("calls");
  const noCalls = document.getElementById("no-calls");
  const connection = document.getElementById("connection");
  const toolsChanged = document.getElementById("tools-changed");
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const TONE = { ok: "good", running: "quiet", denied: "warn", blocked: "warn", cancelled: "warn", unknown: "warn" };
  const LOOK_AGAIN_MS = 5000;
  const SETTLE_MS = 250;
  let planned;

  const visible = (text) =>
    String(text).replace(HIDDEN, (sign) => "\\u" + sign.codePointAt(0).toString(16).padStart(4, "0"));

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
    return ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(1) + " s";
  }

  function rowOf(call) {
    const row = document.createElement("tr");
    row.setAttribute("role", "row");
    cell(row, { head: true, text: call.tool });
    const why = call.error_message === undefined ? "" : ": " + call.error_message.slice(0, 200);
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

  for (const moment of document.querySelectorAll("time"))
    moment.textContent = new Date(moment.dateTime).toLocaleString();

  const events = new EventSource("/v1/events");
  events.addEventListener("open", () => { connection.textContent = "Live"; planCalls(); });
  events.addEventListener("error", () => { connection.textContent = "Not connected; trying again"; });
  events.addEventListener("message", (message) => {
    const { type } = JSON.parse(message.data);
    if (type === "tools.changed" || type === "tool.availability") toolsChanged.hidden = false;
    else if (type !== "call.progress") planCalls();
  });
  // Calls of other Hermes processes are in the journal too, but send no event here.
  setInterval(() => { if (!document.hidden) planCalls(); }, LOOK_AGAIN_MS);
})();
`;
