import type { Effect, EffectScope } from "../../tool/effects.js";
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
      ...(variables !== undefined && { variables }),
    },
    ...wideningEffects(widen),
  ];
}

/** What earlier commands exported and this one may use: a name that it does not hold cannot matter to it. */
function mentioned(
  exported: EffectScope["exported"],
  command: string,
): Readonly<Record<string, string>> | undefined {
  if (exported === undefined) return undefined;
  const words = new Set(command.match(/[A-Za-z_]\w*/g));
  const found = Object.entries(exported).flatMap(([name, value]) =>
    value !== undefined && words.has(name) ? [[name, value] as const] : [],
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
