import { differences, parseExports } from "../shell-report.js";
import type { Prepared } from "./prepare.js";

/** Commands that follow each other mostly report the same, but for their mark. */
let last: { readonly text: string; readonly found: Readonly<Record<string, string>> } | undefined;

/**
 * What a shell leaves to the next command: what its request brought and what it changed itself, where that
 * differs from what every command gets. A sandbox sets some variables its own way; they do not count.
 */
export function exportedBy(
  report: string,
  run: {
    readonly prepared: Prepared;
    /** Of the shell, which may have waited for the command. */
    readonly mark: string;
    readonly requested: Readonly<Record<string, string | undefined>>;
  },
): Readonly<Record<string, string | undefined>> {
  const { prepared, requested } = run;
  const text = report.replace(run.mark, "");
  if (last?.text !== text) last = { text, found: parseExports(text) };
  const began = { ...prepared.env, ...prepared.confinement?.innerEnv };
  const changed = { ...requested, ...differences(began, last.found) };
  return Object.fromEntries(
    Object.entries(changed).filter(
      ([name, value]) => !name.startsWith("HERMES_") && prepared.base[name] !== value,
    ),
  );
}
