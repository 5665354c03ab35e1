import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Mount } from "./mounts.js";
import { realPath } from "./real-path.js";

/** More than this many outside the hidden folders is no ordinary machine; the rest stays reachable. */
const MAX_SOCKETS = 200;

/**
 * A read-only mount does not keep anybody from talking to a socket in it, so every socket of the machine
 * that has a name is covered. One made while the command runs is not known here.
 */
export async function socketMounts(
  isHidden: (path: string) => boolean,
  list = "/proc/net/unix",
): Promise<readonly Mount[]> {
  const table = await readFile(list, "utf8").catch(() => "");
  const paths = socketPaths(table).filter((path) => !isHidden(path));
  return paths.slice(0, MAX_SOCKETS).flatMap((path): Mount[] => {
    const real = realPath(path);
    return real === undefined || isHidden(real) || !isSocket(real) ? [] : [{ kind: "blank", path: real }];
  });
}

/** Names that begin with `@` are of the network namespace and unreachable with it. */
export function socketPaths(table: string): readonly string[] {
  const paths = table.split("\n").map((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line.trimStart())?.[1]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}
