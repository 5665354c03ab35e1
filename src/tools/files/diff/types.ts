export const MODES = ["unified", "stat", "words", "json"] as const;
export type Mode = (typeof MODES)[number];

/** Lines as in a unified diff: each begins with a blank, `+`, `-` or a backslash. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

export interface FileDiff {
  readonly path: string;
  /** Before it was renamed. */
  readonly oldPath?: string | undefined;
  readonly status: "modified" | "added" | "removed" | "renamed" | "identical";
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  readonly binary?: true | undefined;
  /** True when only the first hunks are here. */
  readonly cut?: boolean | undefined;
  /** Why there are no lines to show. */
  readonly note?: string | undefined;
}

export interface DiffOptions {
  readonly context: number;
  readonly ignoreWhitespace: boolean;
}

/** One of the two things that are compared, with its bytes. */
export interface Side {
  readonly label: string;
  /** Undefined when there is nothing on this side. */
  readonly bytes: Uint8Array | undefined;
}
