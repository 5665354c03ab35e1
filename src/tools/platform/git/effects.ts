import { judgeCommand } from "../../../shell/judge.js";
import type { Effect, EffectScope } from "../../../tool/effects.js";
import { absolutePath } from "../../files/paths.js";
import { type GitAddress, judgedUrl, readAddress, withoutPassword } from "./address.js";
import {
  changingWords,
  cloneTarget,
  type GitArguments,
  lineOf,
  onlyReads,
  operationOf,
  problemWith,
  usesNetwork,
} from "./arguments.js";

/**
 * What an action touches. The command it runs is judged as if it were typed into a terminal, so that what is asked
 * about there (a forced push, thrown away changes) is asked about here. Hooks run as they do there, too.
 */
export function gitEffects(args: GitArguments, scope: EffectScope): readonly Effect[] {
  const repo = absolutePath(args.action === "clone" ? cloneTarget(args) : args.repo, scope);
  // The handler says what is wrong with it before it does anything.
  if (problemWith(args) !== undefined || onlyReads(args))
    return [{ action: "git:read", resource: repo, mode: "read", reversible: true }];
  const { words } = changingWords(args);
  const { verdict, rule, reason } = judgeCommand(lineOf(words));
  const detail = withoutPassword(lineOf(words));
  const ask =
    verdict === "safe" ? undefined : { reason: `${reason} (${detail})`, key: `git:${rule}:${repo}` };
  return [
    { action: "git:write", resource: repo, mode: "write", reversible: ask === undefined, ask, detail },
    { action: "file:write", resource: repo, mode: "write", reversible: ask === undefined },
    ...reached(args, scope),
  ];
}

/** The other side. Which address a remote has is in the settings of the repository: it is judged when it is known. */
function reached(args: GitArguments, scope: EffectScope): readonly Effect[] {
  const sends = args.action === "push";
  if (args.url !== undefined && (usesNetwork(args) || operationOf(args) === "add"))
    return addressEffects(readAddress(args.url), { sends, base: scope.cwd, home: scope.home });
  if (!usesNetwork(args)) return [];
  const resource = `git-remote:${args.remote ?? "origin"}`;
  return [
    sends
      ? { action: "network:write", resource, mode: "write" }
      : { action: "network:fetch", resource, mode: "read" },
  ];
}

export function addressEffects(
  address: GitAddress,
  place: { readonly sends: boolean; readonly base: string; readonly home?: string | undefined },
): readonly Effect[] {
  const { sends, base, home } = place;
  if (address.kind === "refused") return [];
  if (address.kind === "file") {
    const resource = absolutePath(address.path, { cwd: base, ...(home !== undefined && { home }) });
    return [
      sends
        ? { action: "file:write", resource, mode: "write" }
        : { action: "file:read", resource, mode: "read", shown: false },
    ];
  }
  const detail =
    address.kind === "web" ? undefined : `git over ${address.kind}: ${withoutPassword(address.url)}`;
  const resource = judgedUrl(address);
  return [
    sends
      ? { action: "network:write", resource, mode: "write", detail }
      : { action: "network:fetch", resource, mode: "read", detail },
  ];
}
