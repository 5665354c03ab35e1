import type { CheckKind } from "./check-tool.js";

export interface Violation {
  readonly kind: CheckKind;
  readonly what: string;
  /** The arguments that showed it first, shortened. */
  readonly args: string;
  readonly times: number;
}

const LONGEST_WHAT = 300;
const LONGEST_ARGS = 200;

/** The same problem found again is counted, not listed again. */
export class Findings {
  readonly #found = new Map<string, { kind: CheckKind; what: string; args: string; times: number }>();

  add(finding: { readonly kind: CheckKind; readonly what: string; readonly args: unknown }): void {
    const what = shorten(finding.what, LONGEST_WHAT);
    const key = `${finding.kind}\0${what}`;
    const known = this.#found.get(key);
    if (known !== undefined) known.times += 1;
    else this.#found.set(key, { kind: finding.kind, what, args: textOfArguments(finding.args), times: 1 });
  }

  all(): readonly Violation[] {
    return [...this.#found.values()];
  }
}

function textOfArguments(args: unknown): string {
  return shorten(typeof args === "string" ? args : (JSON.stringify(args) ?? String(args)), LONGEST_ARGS);
}

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
}
