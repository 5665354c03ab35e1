import { judgeCommand } from "../../../shell/judge.js";
import type { Effect, EffectScope } from "../../../tool/effects.js";
import { absolutePath } from "../../files/paths.js";
import {
  type DockerArguments,
  hostMounts,
  isCompose,
  lineOf,
  onlyReads,
  problemWith,
  registryOf,
  wordsFor,
} from "./arguments.js";

/**
 * What an action touches. The command is judged as if it were typed into a terminal; besides, a person is asked about
 * every part of this machine that a container gets, and about a file that says what is started.
 */
export function dockerEffects(args: DockerArguments, scope: EffectScope): readonly Effect[] {
  const resource = args.container ?? args.image ?? args.name ?? args.path ?? "*";
  // The handler says what is wrong with it before it does anything.
  if (problemWith(args) !== undefined || onlyReads(args))
    return [{ action: "docker:read", resource, mode: "read", reversible: true }];
  const line = lineOf(wordsFor(args, "docker"));
  const mounts = args.action === "run" ? hostMounts(args.volumes) : [];
  const reasons = [
    ...dangerOf(line),
    ...mounts.map(({ path }) => `gives the container ${path} of this machine`),
    ...(args.action === "compose_up"
      ? ["starts whatever the compose file says, with the rights it says"]
      : []),
  ];
  const reason = [...new Set(reasons)].join("; ");
  return [
    {
      action: "docker:run",
      resource,
      mode: "write",
      detail: line,
      ...(reason !== "" && { ask: { reason, key: `docker:${line}` } }),
    },
    ...mounts.map(({ path, readOnly }): Effect => {
      const place = absolutePath(path, scope);
      return readOnly
        ? { action: "file:read", resource: place, mode: "read" }
        : { action: "file:write", resource: place, mode: "write" };
    }),
    ...(args.action === "build" || isCompose(args)
      ? [{ action: "file:read", resource: absolutePath(args.path ?? ".", scope), mode: "read" } as const]
      : []),
    ...(args.action === "pull"
      ? [{ action: "network:fetch", resource: registryOf(args.image ?? ""), mode: "read" } as const]
      : []),
  ];
}

function dangerOf(line: string): readonly string[] {
  const { verdict, reason } = judgeCommand(line);
  return verdict === "safe" ? [] : [reason];
}
