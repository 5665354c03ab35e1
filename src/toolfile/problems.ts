import type { Place } from "../config/types.js";

/** What is wrong at one place of a tool file. */
export interface FileProblem {
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
  readonly place?: Place | undefined;
}

/** Everything that is wrong with one file: a person wants to mend it in one go. */
export class Problems {
  readonly #found: FileProblem[] = [];

  get list(): readonly FileProblem[] {
    return this.#found;
  }

  get count(): number {
    return this.#found.length;
  }

  add(at: { readonly place?: Place | undefined } | undefined, message: string, hint?: string): void {
    this.#found.push({
      message,
      hint,
      place: at?.place,
    });
  }
}

/** `file:line:column: error: what (what to do)`, the form editors and terminals make clickable. */
export function formatFileProblem(file: string, { message, hint, place }: FileProblem): string {
  const where = place === undefined ? file : `${file}:${place.line}:${place.column}`;
  return `${where}: error: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
