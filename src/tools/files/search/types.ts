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

export interface ContentQuery {
  readonly pattern: string;
  readonly root: SearchRoot;
  readonly fileGlob: string | undefined;
  readonly context: number;
  readonly mode: "content" | "files_only" | "count";
}

/** One line of a searched file; `path` is relative to the root folder. */
export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export interface Completeness {
  /** True when the search ended before it had seen everything. */
  readonly partial: boolean;
  /** Results known to exist, when more were seen than are handed over. */
  readonly atLeast?: number;
  readonly warning?: string;
}

export interface ContentFindings extends Completeness {
  /** Sorted by path and line. Empty in the other modes. */
  readonly lines: readonly FoundLine[];
  /** Matching lines per file, sorted by path. */
  readonly counts: ReadonlyMap<string, number>;
}
