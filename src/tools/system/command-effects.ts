import { findProgram } from "../../env/find-program.js";
import { outlineOf } from "../../shell/read/outline.js";
import type { Effect, EffectScope } from "../../tool/effects.js";
import { programsIn } from "./exit-notes.js";
import { wideningEffects } from "./widen.js";
import { declaredDirectory } from "./workdir.js";

export interface CommandArguments {
  readonly command: string;
  readonly workdir?: string | undefined;
  readonly widen?: readonly string[] | undefined;
}

/** The line exactly as it will run, and where; the same whether it runs in front, behind or in a terminal. */
export function commandEffects(
  { command, workdir, widen }: CommandArguments,
  scope: EffectScope,
): readonly Effect[] {
  const variables = mentioned(scope.exported, command);
  return [
    {
      action: "terminal:execute",
      resource: command,
      mode: "execute",
      ...declaredDirectory(workdir, scope),
      variables,
    },
    ...(widen === undefined || widen.length === 0
      ? []
      : wideningEffects(widen, scope.environment === "local" ? whatRuns(command) : undefined)),
  ];
}

const MAX_NAMED = 5;

/** Which programs the names of a line lead to outside, where variables are the environment's own again. */
function whatRuns(command: string): string | undefined {
  const names = programsIn(outlineOf(command)).map(({ program }) => program);
  const found = [...new Set(names)].flatMap((name) => findProgram(name, process.env) ?? []);
  if (found.length === 0) return undefined;
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : "";
  return `runs ${found.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/**
 * What earlier commands exported and this one may use: a name that neither it nor a value it uses holds cannot
 * matter to it.
 */
function mentioned(
  exported: EffectScope["exported"],
  command: string,
): Readonly<Record<string, string>> | undefined {
  if (exported === undefined) return undefined;
  const found = new Map<string, string>();
  const texts = [command];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    for (const name of new Set(text.match(/[A-Za-z_]\w*/g))) {
      const value = Object.hasOwn(exported, name) ? exported[name] : undefined;
      if (value === undefined || found.has(name)) continue;
      found.set(name, value);
      texts.push(value);
    }
  }
  return found.size === 0 ? undefined : Object.fromEntries(found);
}
