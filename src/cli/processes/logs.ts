import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { visibleWithColours } from "../../base/visible-text.js";
import { logFile } from "../../env/processes/log-files.js";
import type { CommandContext } from "../context.js";
import { positiveInteger } from "../input.js";
import { findRow, processFolder, statusNow, withProcessRows } from "./rows.js";

const LOOK_EVERY_MS = 300;
/** Enough to find again where the text that was shown ends. */
const OVERLAP_CHARS = 512;

export async function logs(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const [id = ""] = context.args;
  const lines = positiveInteger(options.lines, "--lines");
  await withProcessRows(context, async (rows) => {
    const row = findRow(rows, id);
    const path = logFile(processFolder(context), row.id);
    const text = await readFile(path, "utf8").catch(() => "");
    if (out.json) return out.value({ id: row.id, status: statusNow(row), output: lastLines(text, lines) });
    process.stdout.write(visibleWithColours(lastLines(text, lines)));
    if (options.follow !== true) return;
    let shown = text;
    for (let ended = false; !ended; ) {
      // Looked at before the file, so that the last words of one that has just ended are read.
      ended = statusNow(findRow(rows, row.id)) !== "running";
      const now = await readFile(path, "utf8").catch(() => shown);
      process.stdout.write(visibleWithColours(newText(shown, now)));
      shown = now;
      if (!ended) await delay(LOOK_EVERY_MS);
    }
  });
}

function lastLines(text: string, count: number): string {
  const lines = text.split("\n");
  const open = lines.at(-1) === "" ? 1 : 0;
  return lines.slice(-(count + open)).join("\n");
}

/** The file holds the end of an endless text: what is new stands behind what was shown. */
function newText(shown: string, now: string): string {
  if (now.startsWith(shown)) return now.slice(shown.length);
  const known = shown.slice(-OVERLAP_CHARS);
  const at = known === "" ? -1 : now.lastIndexOf(known);
  return at === -1 ? `\n[… output was missed …]\n${now}` : now.slice(at + known.length);
}
