import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";

/** What can be put right without asking: the home folder and who may read it. Says what was done. */
export function repairHome(home: string): readonly string[] {
  const done: string[] = [];
  if (!existsSync(home)) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    done.push(`made ${home}`);
  }
  for (const [path, mode] of [
    [home, 0o700],
    [`${home}/.env`, 0o600],
    [`${home}/server.token`, 0o600],
  ] as const) {
    if (!existsSync(path) || (statSync(path).mode & 0o077) === 0) continue;
    chmodSync(path, mode);
    done.push(`others can no longer read ${path}`);
  }
  return done;
}

/** Fetches the packages that tools of this home lack. */
export async function installMissing(
  home: string,
  onProgress: (text: string) => void,
): Promise<readonly string[]> {
  const { installPackages } = await import("./packages/install.js");
  const items = await installPackages({ home, onProgress });
  return items.filter(({ state }) => state === "installed").map(({ what }) => `installed ${what}`);
}
