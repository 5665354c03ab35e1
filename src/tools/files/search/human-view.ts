import { columns, mark } from "../../../tool/marked-text.js";
import { groupedByFile, type SearchMatch, type ShownLine } from "./matches.js";

export interface SearchView {
  readonly matches?: readonly SearchMatch[];
  readonly files?: readonly string[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly total_count: number;
  readonly total_count_is_lower_bound?: true;
  readonly hint?: string | undefined;
  readonly _warning?: string;
}

/** For a person: paths as headings, line numbers dim, what matched strong. */
export function humanView(view: SearchView): string {
  const body =
    view.matches === undefined
      ? view.files === undefined
        ? countTable(view.counts ?? {})
        : view.files.map((path) => mark.path(path)).join("\n")
      : matchBlocks(view.matches);
  const total = `${view.total_count}${view.total_count_is_lower_bound === true ? " or more" : ""}`;
  const what = view.matches === undefined ? "file" : "match";
  const ending = view.total_count === 1 ? "" : what === "match" ? "es" : "s";
  const summary = view.total_count === 0 ? undefined : mark.dim(`${total} ${what}${ending}`);
  const hint = view.hint === undefined ? undefined : mark.dim(view.hint);
  const warning = view._warning === undefined ? undefined : mark.warning(view._warning);
  return [body, [summary, hint].filter(Boolean).join(mark.dim(" · ")), warning].filter(Boolean).join("\n");
}

function countTable(counts: Readonly<Record<string, number>>): string {
  return columns(
    Object.entries(counts).map(([path, count]) => [mark.strong(String(count)), mark.path(path)]),
    { right: [0] },
  );
}

function matchBlocks(matches: readonly SearchMatch[]): string {
  return [...groupedByFile(matches)]
    .map(([path, lines]) => {
      const width = String(lines.at(-1)?.line ?? 0).length;
      return [mark.path(path), ...lines.map((line) => shownLine(line, width))].join("\n");
    })
    .join("\n\n");
}

function shownLine({ line, text, isMatch, spans }: ShownLine, width: number): string {
  const number = mark.dim(`${String(line).padStart(width)}${isMatch ? ":" : "-"}`);
  if (!isMatch) return `${number} ${mark.dim(text)}`;
  let shown = "";
  let at = 0;
  for (const [start, end] of spans) {
    if (start < at) continue;
    shown += text.slice(at, start) + mark.strong(text.slice(start, end));
    at = end;
  }
  return `${number} ${shown}${text.slice(at)}`;
}
