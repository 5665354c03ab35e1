import { compareWords, MAX_CHARS } from "./compare-texts.js";
import type { FileDiff, Hunk, Mode } from "./types.js";

export interface Rendered {
  readonly diff: string;
  readonly truncated: boolean;
}

/** The differences as text; `json` has them as data instead. */
export async function renderDiff(
  files: readonly FileDiff[],
  { mode, signal }: { readonly mode: Mode; readonly signal: AbortSignal },
): Promise<Rendered> {
  if (mode === "json") return { diff: "", truncated: files.some(({ cut }) => cut === true) };
  if (mode === "stat") return { diff: statText(files), truncated: false };
  const parts: string[] = [];
  let length = 0;
  for (const file of files) {
    if (file.status === "identical") continue;
    const part = [
      ...headerOf(file),
      ...(await hunkTexts(file, { mode, signal, room: MAX_CHARS - length })),
    ].join("\n");
    parts.push(part);
    length += part.length;
    if (length > MAX_CHARS) break;
  }
  const whole = parts.join("\n");
  const cut = files.some((file) => file.cut === true);
  if (whole.length <= MAX_CHARS) return { diff: whole, truncated: cut };
  return { diff: whole.slice(0, whole.lastIndexOf("\n", MAX_CHARS)), truncated: true };
}

function headerOf(file: FileDiff): string[] {
  const old = file.status === "added" ? "/dev/null" : (file.oldPath ?? file.path);
  const now = file.status === "removed" ? "/dev/null" : file.path;
  const note = file.note ?? (file.hunks.length === 0 ? emptyNote(file) : undefined);
  return [`--- ${old}`, `+++ ${now}`, ...(note === undefined ? [] : [`(${note})`])];
}

function emptyNote({ status }: FileDiff): string {
  if (status === "renamed") return "renamed, not changed";
  return status === "modified" ? "only properties of the file have changed" : "empty";
}

async function hunkTexts(
  file: FileDiff,
  shape: { readonly mode: "unified" | "words"; readonly signal: AbortSignal; readonly room: number },
): Promise<string[]> {
  const texts: string[] = [];
  let { room } = shape;
  for (const hunk of file.hunks) {
    if (room < 0) break;
    const { oldStart, oldLines, newStart, newLines } = hunk;
    texts.push(`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`);
    const text = shape.mode === "unified" ? hunk.lines.join("\n") : await wordText(hunk, shape.signal);
    texts.push(text);
    room -= text.length;
  }
  return texts;
}

function range(start: number, lines: number): string {
  if (lines === 1) return String(start);
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

async function wordText(hunk: Hunk, signal: AbortSignal): Promise<string> {
  const side = (sign: string) =>
    hunk.lines
      .filter((line) => line.startsWith(" ") || line.startsWith(sign))
      .map((line) => line.slice(1))
      .join("\n");
  return (await compareWords({ before: side("-"), after: side("+"), signal })) ?? hunk.lines.join("\n");
}

const BAR = 40;

function statText(files: readonly FileDiff[]): string {
  const changed = files.filter(({ status }) => status !== "identical");
  const width = Math.max(0, ...changed.map(({ path }) => path.length));
  const most = Math.max(1, ...changed.map(({ added, removed }) => added + removed));
  return changed
    .map((file) => {
      const scale = Math.min(1, BAR / most);
      const bar = (sign: string, count: number) =>
        sign.repeat(count === 0 ? 0 : Math.max(1, Math.round(count * scale)));
      const facts =
        file.note ?? `${file.added + file.removed} ${bar("+", file.added)}${bar("-", file.removed)}`;
      return `${file.path.padEnd(width)} | ${file.status === "modified" ? "" : `${file.status} `}${facts}`.trimEnd();
    })
    .join("\n");
}
