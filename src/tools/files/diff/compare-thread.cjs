// Compares two texts in a thread of its own and hands over no more than can be shown. Lines of a hunk travel as one
// text: thousands of small ones would keep the receiver busy.
const { parentPort, workerData } = require("node:worker_threads");

const { library, job } = workerData;
const { diffWordsWithSpace, structuredPatch } = require(library);
const { before, after, options } = job;
if (job.kind === "words") {
  const words = diffWordsWithSpace(before, after, options);
  const mark = ({ value, added, removed }) => (added ? `{+${value}+}` : removed ? `[-${value}-]` : value);
  parentPort.postMessage(words?.map(mark).join(""));
} else {
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  const hunks = patch === undefined ? [wholeMiddle()] : patch.hunks;
  parentPort.postMessage({ ...counted(hunks), ...shown(hunks, job.room), smallest: patch !== undefined });
}

function counted(hunks) {
  let added = 0;
  let removed = 0;
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) added++;
      else if (line.startsWith("-")) removed++;
    }
  }
  return { added, removed };
}

function shown(hunks, room) {
  const found = [];
  let left = room;
  for (const hunk of hunks) {
    let count = 0;
    while (count < hunk.lines.length && left > 0) left -= hunk.lines[count++].length + 1;
    if (count === 0) return { hunks: found, cut: true };
    found.push({ ...hunk, lines: hunk.lines.slice(0, count).join("\n") });
    if (count < hunk.lines.length) return { hunks: found, cut: true };
  }
  return { hunks: found, cut: false };
}

// What lies between the lines that both begin with and those that both end with, as one replacement.
function wholeMiddle() {
  const old = linesOf(before);
  const now = linesOf(after);
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const from = Math.max(0, head - options.context);
  const until = Math.max(0, tail - options.context);
  const part = (lines, start, end, sign) => lines.slice(start, end).flatMap((line) => signed(line, sign));
  return {
    oldStart: from + 1,
    oldLines: old.length - until - from,
    newStart: from + 1,
    newLines: now.length - until - from,
    lines: [
      ...part(old, from, head, " "),
      ...part(old, head, old.length - tail, "-"),
      ...part(now, head, now.length - tail, "+"),
      ...part(old, old.length - tail, old.length - until, " "),
    ],
  };
}

// With their line ends, so that a missing last one makes a difference.
function linesOf(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function signed(line, sign) {
  return line.endsWith("\n")
    ? [`${sign}${line.slice(0, -1)}`]
    : [`${sign}${line}`, "\\ No newline at end of file"];
}
