import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isOwnerAlive, newOwnerId } from "../../store/process-owner.js";
import { KEEP_WATCH } from "./scripts.gen.js";

/** A folder without an owner this young may be one that is just being made. */
const BEING_MADE_MS = 60_000;
const OWNER_FILE = "owner";

/** The folder of one browser, with the name of the process that it belongs to in it. */
export interface BrowserFolder {
  readonly profile: string;
  readonly downloads: string;
  /** From now on this browser ends with this process, whatever becomes of it. */
  watch(browserPid: number): void;
  /** Ends what is left of the browser and takes the folder away. */
  release(): Promise<void>;
}

/** Makes a folder for a browser, and first takes away what processes have left behind that are no more. */
export async function claimFolder(root: string): Promise<BrowserFolder> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await reap(root);
  const folder = join(root, randomUUID());
  const profile = join(folder, "profile");
  const downloads = join(folder, "downloads");
  await mkdir(downloads, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, OWNER_FILE), newOwnerId());
  let allDone: (() => void) | undefined;
  return {
    profile,
    downloads,
    watch(browserPid) {
      allDone?.();
      allDone = keepWatch({ group: browserPid, folder });
    },
    async release() {
      await endBrowsersOf(profile);
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      allDone?.();
    },
  };
}

/** Ends browsers whose owner has died, and removes their folders. Those of others are not looked at. */
export async function reap(root: string): Promise<void> {
  const names = await readdir(root).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const folder = join(root, name);
      const owner = await readFile(join(folder, OWNER_FILE), "utf8").catch(() => undefined);
      if (owner === undefined ? await isYoung(folder) : isOwnerAlive(owner)) return;
      await endBrowsersOf(join(folder, "profile"));
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(
        () => undefined,
      );
    }),
  );
}

async function isYoung(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < BEING_MADE_MS;
}

/** A browser is known by the folder it was started with, which no other program has on its command line. */
async function endBrowsersOf(profile: string): Promise<void> {
  const flag = `--user-data-dir=${profile}`;
  for (const { pid, words } of await processes()) {
    if (!words.includes(flag)) continue;
    for (const target of [-pid, pid]) {
      try {
        process.kill(target, "SIGKILL");
      } catch {
        // Not the leader of a group, or gone meanwhile.
      }
    }
  }
}

async function processes(): Promise<readonly { pid: number; words: readonly string[] }[]> {
  // Without /proc the browser's own pipe has to do: it ends when nobody holds the other end.
  const names = await readdir("/proc").catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => ({
        pid: Number(name),
        words: (await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")).split(/[\0 ]/),
      })),
  );
  return found.filter(({ pid }) => pid !== process.pid);
}

/** A process that outlives this one just long enough to end the browser. Call the answer when there is nothing to end. */
function keepWatch({ group, folder }: { group: number; folder: string }): (() => void) | undefined {
  if (process.platform === "win32") return undefined;
  const watcher = spawn("/bin/sh", ["-c", KEEP_WATCH, "keep-watch", String(group), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    // Signals from the terminal are not meant for it.
    detached: true,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  });
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  watcher.unref();
  const { stdin } = watcher;
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return () => stdin.end("done\n");
}
