import { ToolError } from "../../../tool/errors.js";

/** "2-3, 7, 10-" → page numbers in that order, each once; all pages when left out. */
export function pagesIn(range: string | undefined, total: number): readonly number[] {
  if (range === undefined || range.trim() === "" || range.trim() === "all")
    return Array.from({ length: total }, (_, at) => at + 1);
  const found = new Set<number>();
  for (const part of range.split(",")) {
    const [, from, dash, to = ""] = /^(\d*)\s*(-\s*(\d*))?$/.exec(part.trim()) ?? [];
    if (from === undefined || (from === "" && to === "")) throw wrong(range, "is no range of pages");
    const first = from === "" ? 1 : Number(from);
    const last = dash === undefined ? first : to === "" ? total : Number(to);
    if (first < 1 || first > total || last < first)
      throw wrong(range, `does not fit: the document has ${total} page${total === 1 ? "" : "s"}`);
    for (let page = first; page <= Math.min(last, total); page++) found.add(page);
  }
  return [...found];
}

/** 3, 4, 5, 9 → "3-5, 9". */
export function rangeText(pages: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const page of pages) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === page - 1) last[1] = page;
    else runs.push([page, page]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

function wrong(range: string, why: string): ToolError {
  return new ToolError(`pages "${range}" ${why}.`, {
    code: "invalid_arguments",
    hint: 'Write "3", "2-5", "1, 4-6" or "10-" (to the end).',
  });
}
