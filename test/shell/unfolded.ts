import { canonicalCommand } from "../../src/shell/read/canonical.js";
import type { Run } from "../../src/shell/read/context.js";
import { unfold } from "../../src/shell/read/unfold.js";
import { UNKNOWN } from "../../src/shell/types.js";

const NOTABLE = new Set(["rm", "rmdir", "dd", "ls"]);

export function run(line: string, options: { home?: string; hermesHome?: string } = {}): Run {
  const found = unfold(line, { notablePrograms: NOTABLE, ...options });
  if (found === undefined) throw new Error(`not valid shell text: ${line}`);
  return found;
}

/** What a line runs, carriers left out, unknown pieces shown as `<unknown>`. */
export function runs(line: string, options: { home?: string; hermesHome?: string } = {}): string[] {
  const found = run(line, options);
  return found.commands.filter((command) => !found.carriers.has(command)).map(canonicalCommand);
}

/** The words one command receives. */
export function words(line: string): string[] {
  const [command] = run(line).commands.slice(-1);
  return (command?.args ?? []).map((word) => word.text.replaceAll(UNKNOWN, "?"));
}

export function found(line: string): string[] {
  return run(line).findings.map((finding) => finding.rule);
}
