import { foldPath } from "../base/path.js";
import { PLACE_TABLE, type PlaceRow } from "./table.js";

/**
 * One file as the table sees it: the same path seen from each place that patterns begin at. All are folded, without a
 * slash in front; what does not apply is left out.
 */
export interface Spot {
  /** The whole path, as far as it is known. */
  readonly path: string;
  /** Set when that path begins at the root. */
  readonly fromRoot?: boolean;
  /** What follows somebody's home. */
  readonly inHome?: string | undefined;
  /** What follows the home of Hermes or of one of its profiles. */
  readonly inHermes?: string | undefined;
}

type Anchor = "/" | "~/" | "$HERMES" | "**/";

interface Compiled {
  readonly anchor: Anchor;
  readonly row: PlaceRow;
  readonly order: number;
  readonly test: RegExp;
}

/** The rows that speak of a place, first the one that decides. */
export function rowsAt(spot: Spot): readonly PlaceRow[] {
  return untilException(rowsNaming(spot));
}

/** An exception ends the list. */
export function untilException(rows: readonly PlaceRow[]): readonly PlaceRow[] {
  const exception = rows.findIndex(({ read, write }) => read === "allow" && write === "allow");
  return exception === -1 ? rows : rows.slice(0, exception);
}

/** Every row with a pattern for it, exceptions among them, in the order of the table. */
export function rowsNaming(spot: Spot): readonly PlaceRow[] {
  const found = [
    ...matching("**/", spot.path),
    ...(spot.fromRoot === true ? matching("/", spot.path) : []),
    ...(spot.inHome === undefined ? [] : matching("~/", spot.inHome)),
    ...(spot.inHermes === undefined ? [] : matching("$HERMES", spot.inHermes)),
  ];
  if (found.length === 0) return NONE;
  return found.sort((left, right) => left.order - right.order).map(({ row }) => row);
}

const NONE: readonly PlaceRow[] = [];

function matching(anchor: Anchor, path: string): readonly Compiled[] {
  const known = compiled();
  // Nearly every path is ordinary, and one search tells.
  if (!known.any[anchor].test(path)) return [];
  return known.rows.filter((row) => row.anchor === anchor && row.test.test(path));
}

interface Index {
  readonly rows: readonly Compiled[];
  readonly any: Readonly<Record<Anchor, RegExp>>;
}

let index: Index | undefined;

function compiled(): Index {
  index ??= compileTable();
  return index;
}

function compileTable(): Index {
  const rows = PLACE_TABLE.flatMap((row, order) => {
    const patterns = patternsOf(row);
    return ANCHORS.flatMap((anchor): Compiled[] => {
      const own = patterns.filter((pattern) => anchorOf(pattern) === anchor);
      return own.length === 0 ? [] : [{ anchor, row, order, test: either(own.map(sourceOf)) }];
    });
  });
  const all = (anchor: Anchor) =>
    either(rows.flatMap((row) => (row.anchor === anchor ? [row.test.source] : [])));
  return { rows, any: { "/": all("/"), "~/": all("~/"), $HERMES: all("$HERMES"), "**/": all("**/") } };
}

const ANCHORS: readonly Anchor[] = ["/", "~/", "$HERMES", "**/"];

function anchorOf(pattern: string): Anchor {
  return ANCHORS.find((anchor) => pattern.startsWith(anchor)) ?? "**/";
}

export function patternsOf(row: PlaceRow): readonly string[] {
  return row.patterns.split(/\s+/).filter((pattern) => pattern !== "");
}

function either(sources: readonly string[]): RegExp {
  return new RegExp(sources.map((source) => `(?:${source})`).join("|"), "s");
}

/** A pattern as the source of a regular expression over the folded path from its anchor on. */
function sourceOf(pattern: string): string {
  const anchor = anchorOf(pattern);
  const rest = foldPath(pattern.slice(anchor.length)).replace(/^\//, "");
  const isFolder = anchor !== "**/" || rest.endsWith("/");
  const body = rest.replace(/\/$/, "").replace(/\/\*\*\/|\[[^\]]*\]|[*?{},]|[.+^$()|\\]/g, (part) => {
    return Object.hasOwn(PARTS, part) ? (PARTS[part] ?? part) : part.startsWith("[") ? part : `\\${part}`;
  });
  if (body === "") return "^";
  return `${anchor === "**/" ? "(?:^|/)" : "^"}${body}${isFolder ? "(?:/|$)" : "$"}`;
}

const PARTS: Readonly<Record<string, string>> = {
  "/**/": "/(?:.*/)?",
  "*": "[^/]*",
  "?": "[^/]",
  "{": "(?:",
  ",": "|",
  "}": ")",
};

/** The names below an anchor that patterns of these rows spell out in full, without wildcards. */
export function plainNames(anchor: Anchor, isMeant: (row: PlaceRow) => boolean): readonly string[] {
  return PLACE_TABLE.filter(isMeant)
    .flatMap(patternsOf)
    .filter((pattern) => anchorOf(pattern) === anchor && !/[*?[]/.test(pattern.slice(anchor.length)))
    .flatMap((pattern) => alternatives(pattern.slice(anchor.length).replace(/^\/|\/$/g, "")));
}

/** `a{b,c}` is `ab` and `ac`. */
function alternatives(pattern: string): readonly string[] {
  const [whole, before = "", choices = "", after = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  return choices.split(",").flatMap((choice) => alternatives(before + choice + after));
}
