import { relative } from "node:path";
import { isAtOrBelow } from "../../base/path.js";
import type { CallContext } from "../../tool/tool.js";

/** Texts with little in common take for ever to compare, and nothing else runs meanwhile. */
const DIFF_TIMEOUT_MS = 200;
const CONTEXT = 3;

/** One file before and after; undefined where it does not exist. */
export interface TextChange {
  readonly path: string;
  /** Its new path, if it moved. */
  readonly movedTo?: string | undefined;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A unified diff of one change, the way `git diff` names files. */
export async function unifiedDiff(
  change: TextChange,
  options: { readonly ctx: CallContext; readonly maxChars: number },
): Promise<string> {
  const { before, after } = change;
  const { cwd } = options.ctx.session;
  const name = (path: string) => (isAtOrBelow(path, cwd) ? relative(cwd, path) : path.replace(/^\//, ""));
  const from = before === undefined ? "/dev/null" : `a/${name(change.path)}`;
  const to = after === undefined ? "/dev/null" : `b/${name(change.movedTo ?? change.path)}`;
  if (before === after) {
    return change.movedTo === undefined ? "" : `rename from ${from.slice(2)}\nrename to ${to.slice(2)}\n`;
  }
  const { createTwoFilesPatch } = await import("diff");
  const diff = createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    context: CONTEXT,
    timeout: DIFF_TIMEOUT_MS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  const whole = diff ?? `--- ${from}\n+++ ${to}\n${oneHunk(before ?? "", after ?? "")}`;
  if (whole.length <= options.maxChars) return whole;
  const cut = whole.lastIndexOf("\n", options.maxChars);
  return `${whole.slice(0, cut)}\n[${whole.length - cut} more characters of diff]\n`;
}

/** All lines between the first and the last that differ, as one change. */
function oneHunk(before: string, after: string): string {
  const [old, fresh] = [before, after].map((text) => text.replace(/\n$/, "").split("\n"));
  if (old === undefined || fresh === undefined) return "";
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const start = Math.max(0, head - CONTEXT);
  const end = Math.max(0, tail - CONTEXT);
  const lines = [
    ...old.slice(start, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - end).map((line) => ` ${line}`),
  ];
  const range = (all: readonly string[]) => `${start + 1},${all.length - end - start}`;
  return `@@ -${range(old)} +${range(fresh)} @@\n${lines.join("\n")}\n`;
}
