/** Where to look: a folder, and the one name in it when a single file is searched. */
export interface SearchRoot {
  /** Absolute; programs run here, so that globs with folders are relative to it. */
  readonly folder: string;
  /** The same folder with every link followed. */
  readonly real: string;
  /** What the caller named, with every link followed: the folder, or the one file. */
  readonly begun: string;
  /** "." or "./name". */
  readonly operand: string;
}

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export interface ContentQuery {
  readonly pattern: string;
  readonly root: SearchRoot;
  readonly fileGlob: string | undefined;
  readonly context: number;
  readonly mode: "content" | "files_only" | "count";
  readonly page: Page;
  /** False for paths that nobody may see or that do not fit the glob. */
  accepts(path: string): boolean;
}

/** Characters from which to which a match reaches. */
export type Span = readonly [start: number, end: number];

/** One line of a searched file; `path` is relative to the root folder. */
export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** Where in `text` it matched, when the program that searched could tell. */
  readonly spans?: readonly Span[];
}

export interface Completeness {
  /** True when the search ended before it had seen everything. */
  readonly partial: boolean;
  readonly warning?: string;
}

export interface ContentFindings extends Completeness {
  /** Matching lines per file, sorted by path. */
  readonly counts: readonly FileCount[];
  /** Mode content: the lines of the files that the page touches, sorted by path and line. */
  readonly lines: readonly FoundLine[];
  /** Matches that lie in the files before those of `lines`. */
  readonly skipped: number;
}

export interface FileCount {
  readonly path: string;
  readonly count: number;
}

export function comparePaths(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
