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
const ANCHORS: readonly Anchor[] = ["/", "~/", "$HERMES", "**/"];

/** The patterns of one row that are compared with the same text. */
interface Compiled {
  readonly row: PlaceRow;
  readonly order: number;
  readonly test: RegExp;
}

interface Compared {
  readonly rows: readonly Compiled[];
  /** Nearly every path is ordinary, and one search tells. */
  readonly any: RegExp;
}

/** The rows that speak of a place. */
export function rowsAt(spot: Spot): readonly PlaceRow[] {
  return untilException(rowsNaming(spot));
}

/** The row that decides about an operation, among all that speak of a place; undefined when it is allowed. */
export function decidingRow(rows: readonly PlaceRow[], operation: "read" | "write"): PlaceRow | undefined {
  const counting = rows.filter(({ only }) => only === true);
  const judging = counting.length > 0 ? counting : rows;
  return judging.find((row) => row[operation] === "deny") ?? judging.find((row) => row[operation] === "ask");
}

/** An exception ends the list. */
export function untilException(rows: readonly PlaceRow[]): readonly PlaceRow[] {
  const exception = rows.findIndex(isException);
  return exception === -1 ? rows : rows.slice(0, exception);
}

function isException({ read, write }: PlaceRow): boolean {
  return read === "allow" && write === "allow";
}

/** Every row with a pattern for it, exceptions among them, in the order of the table. */
export function rowsNaming({ path, fromRoot, inHome, inHermes }: Spot): readonly PlaceRow[] {
  const { root, home, hermes, names, folders, firstFolders } = compiledTable();
  const found = matching(names, path.slice(path.lastIndexOf("/") + 1));
  if (firstFolders.isIn(path)) found.push(...matching(folders, path));
  if (fromRoot === true) found.push(...matching(root, path));
  if (inHome !== undefined) found.push(...matching(home, inHome));
  if (inHermes !== undefined) found.push(...matching(hermes, inHermes));
  return found.length === 0
    ? NONE
    : found.sort((left, right) => left.order - right.order).map(({ row }) => row);
}

const NONE: readonly PlaceRow[] = [];

function matching({ rows, any }: Compared, text: string): Compiled[] {
  return any.test(text) ? rows.filter(({ test }) => test.test(text)) : [];
}

interface CompiledTable {
  readonly root: Compared;
  readonly home: Compared;
  readonly hermes: Compared;
  /** Patterns for any folder: of the last segment alone, and of more. */
  readonly names: Compared;
  readonly folders: Compared;
  readonly firstFolders: { isIn(path: string): boolean };
}

let table: CompiledTable | undefined;

function compiledTable(): CompiledTable {
  const isName = (pattern: string) => anchorOf(pattern) === "**/" && !pattern.slice(3).includes("/");
  const isFolder = (pattern: string) => anchorOf(pattern) === "**/" && !isName(pattern);
  table ??= {
    root: compare((pattern) => anchorOf(pattern) === "/"),
    home: compare((pattern) => anchorOf(pattern) === "~/"),
    hermes: compare((pattern) => anchorOf(pattern) === "$HERMES"),
    names: compare(isName),
    folders: compare(isFolder),
    firstFolders: firstFoldersOf(PLACE_TABLE.flatMap(patternsOf).filter(isFolder)),
  };
  return table;
}

function compare(isMeant: (pattern: string) => boolean): Compared {
  const rows = PLACE_TABLE.flatMap((row, order): Compiled[] => {
    const patterns = patternsOf(row).filter(isMeant);
    return patterns.length === 0 ? [] : [{ row, order, test: either(patterns.map(sourceOf)) }];
  });
  // An exception alone changes nothing.
  const any = either(rows.filter(({ row }) => !isException(row)).map(({ test }) => test.source));
  return { rows, any };
}

/** Whether a path has a segment that patterns of folders begin with. */
function firstFoldersOf(patterns: readonly string[]): CompiledTable["firstFolders"] {
  const firsts = patterns.flatMap((pattern) => alternatives(foldPath(pattern.slice(3).split("/")[0] ?? "")));
  const plain = new Set(firsts.filter((name) => !name.startsWith("*")));
  const endings = firsts.filter((name) => name.startsWith("*")).map((name) => name.slice(1));
  const isFirst = (segment: string) => plain.has(segment) || endings.some((end) => segment.endsWith(end));
  // Whoever asks about a hundred thousand files asks folder by folder.
  let known = { folder: "", isIn: false };
  return {
    isIn: (path) => {
      const cut = path.lastIndexOf("/");
      const folder = path.slice(0, Math.max(0, cut));
      if (folder !== known.folder) known = { folder, isIn: folder.split("/").some(isFirst) };
      return known.isIn || isFirst(path.slice(cut + 1));
    },
  };
}

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
  const start = anchor === "**/" && rest.includes("/") ? "(?:^|/)" : "^";
  return `${start}${body}${isFolder ? "(?:/|$)" : "$"}`;
}

const PARTS: Readonly<Record<string, string>> = {
  "/**/": "/(?:.*/)?",
  "*": "[^/]*",
  "?": "[^/]",
  "{": "(?:",
  ",": "|",
  "}": ")",
};

/** The names below an anchor that patterns of these rows spell out in full; a slash at the end marks a folder. */
export function plainNames(anchor: Anchor, isMeant: (row: PlaceRow) => boolean): readonly string[] {
  return PLACE_TABLE.filter(isMeant)
    .flatMap(patternsOf)
    .filter((pattern) => anchorOf(pattern) === anchor && !/[*?[]/.test(pattern.slice(anchor.length)))
    .flatMap((pattern) => alternatives(pattern.slice(anchor.length).replace(/^\//, "")));
}

/** The same for those whose last segment alone is a pattern, as a folder and what to compare its names with. */
export function namePatterns(
  anchor: Anchor,
  isMeant: (row: PlaceRow) => boolean,
): readonly { readonly folder: string; readonly name: RegExp }[] {
  return PLACE_TABLE.filter(isMeant)
    .flatMap(patternsOf)
    .filter((pattern) => anchorOf(pattern) === anchor)
    .flatMap((pattern) => alternatives(pattern.slice(anchor.length)))
    .flatMap((path) => {
      const [, folder, name] = /^([^*?[]*)\/([^/]*[*?[][^/]*)$/.exec(path) ?? [];
      return folder === undefined || name === undefined
        ? []
        : [{ folder, name: new RegExp(sourceOf(`/${name}`)) }];
    });
}

/** `a{b,c}` is `ab` and `ac`. */
function alternatives(pattern: string): readonly string[] {
  const [whole, before = "", choices = "", after = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  return choices.split(",").flatMap((choice) => alternatives(before + choice + after));
}
