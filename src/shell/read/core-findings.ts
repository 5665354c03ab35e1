import type { Finding, SimpleCommand, Span } from "../types.js";
import type { Context, PlacedFinding } from "./context.js";

/** What the analysis itself can find, apart from the rules: things it cannot see into, and its own limits. */
const CORE = {
  "opaque.shell-input": ["danger", "runs text as shell commands that cannot be seen beforehand"],
  "opaque.decoded-input": [
    "danger",
    "runs text as shell commands that is decoded first, so that nobody can read it",
  ],
  "opaque.wrapper": ["danger", "runs another command in a way that cannot be read with certainty"],
  "opaque.carried": ["danger", "names a dangerous command in its words, which it may run"],
  "opaque.program": ["danger", "runs a program whose name is only known when it runs"],
  "opaque.downloaded-script": ["danger", "runs a file that was fetched or decoded in the same line"],
  "opaque.made-executable": ["danger", "makes a file executable and runs it at once"],
  "opaque.untrusted-script": ["danger", "runs a script from a folder for temporary or downloaded files"],
  "fork-bomb.function": ["hardline", "starts copies of itself without end"],
  "fork-bomb.loop": ["hardline", "starts processes without end"],
  "hardline.unparseable": ["hardline", "is not valid shell text, so what it runs cannot be told"],
} as const satisfies Readonly<Record<string, readonly [Finding["level"], string]>>;

export type CoreRule = keyof typeof CORE;

export function report(
  context: Context,
  rule: CoreRule,
  { span, command }: { readonly span: Span; readonly command?: SimpleCommand | undefined },
): void {
  const [level, reason] = CORE[rule];
  const finding: PlacedFinding = { level, rule, reason, span, ...(command !== undefined && { command }) };
  context.run.findings.push(finding);
}
