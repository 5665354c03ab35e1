import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { isAtOrBelow } from "../base/path.js";

const MOST_FILES = 20_000;
const LARGEST_FILE = 10 * 1024 * 1024;
const MOST_BYTES = 512 * 1024 * 1024;
const LONGEST_MS = 10_000;
const FORGOTTEN_AFTER_MS = 14 * 86_400_000;
const MOST_LISTED_BYTES = 64 * 1024 * 1024;

/** What a workspace held at one moment; the name of a git tree. */
export type Snapshot = string;

export interface NoSnapshot {
  /** Why there is none, for the person. */
  readonly reason: string;
}

export interface TakenBack {
  readonly restored: readonly string[];
  /** Changed since by somebody else, and left alone. */
  readonly left: readonly string[];
}

/**
 * What a folder held before a turn, so that the turn can be taken back, whoever changed the files: a tool, or a command
 * that nobody looked into. It is kept in a git folder of our own under the Hermes home. A repository of the person in
 * that folder is neither read nor touched; only its `.gitignore` files count: what they name is not kept.
 */
export class WorkspaceSnapshots {
  readonly #workspace: string;
  readonly #root: string;
  readonly #home: string;
  #opening: Promise<void> | undefined;

  constructor({ home, workspace }: { readonly home: string; readonly workspace: string }) {
    this.#workspace = workspace;
    this.#home = home;
    const name = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
    this.#root = join(home, "snapshots", name);
  }

  async take(): Promise<Snapshot | NoSnapshot> {
    if (this.#workspace === "/" || this.#workspace === homedir())
      return { reason: `${this.#workspace} is too large a folder to be kept` };
    try {
      this.#opening ??= this.#open();
      await this.#opening;
      const changed = await this.#changedFiles();
      if ("reason" in changed) return changed;
      if (changed.length > 0)
        await this.#git(
          ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"],
          nulList(changed),
        );
      return (await this.#git(["write-tree"])).trim();
    } catch (error) {
      this.#opening = undefined;
      return { reason: whyNot(error) };
    }
  }

  /** Puts back what was changed between two moments, where it is still as it was at the second. */
  async takeBack(before: Snapshot, after: Snapshot): Promise<TakenBack | NoSnapshot> {
    const now = await this.take();
    if (typeof now !== "string") return now;
    const changed = await this.#difference(before, after);
    const since = await this.#difference(after, now);
    const elsewhere = await this.#difference(before, now);
    const restored = [...changed].filter((path) => !since.has(path));
    const left = [...changed].filter((path) => since.has(path) && elsewhere.has(path));
    if (restored.length > 0)
      await this.#git(
        [
          "restore",
          `--source=${before}`,
          "--worktree",
          "--staged",
          "--pathspec-from-file=-",
          "--pathspec-file-nul",
        ],
        nulList(restored),
      );
    return { restored, left };
  }

  async #open(): Promise<void> {
    await forgetOld(join(this.#home, "snapshots"));
    if (existsSync(join(this.#root, "HEAD")) && (await this.#bytesKept()) > MOST_BYTES)
      await rm(this.#root, { recursive: true, force: true });
    if (!existsSync(join(this.#root, "HEAD"))) {
      await mkdir(this.#root, { recursive: true, mode: 0o700 });
      await this.#git(["init", "--quiet"]);
    }
    await mkdir(join(this.#root, "info"), { recursive: true });
    // Bytes are kept as they are, whatever attributes a project sets.
    await writeFile(
      join(this.#root, "info", "attributes"),
      "* -text !eol !filter -ident !working-tree-encoding\n",
    );
    const home = isAtOrBelow(this.#home, this.#workspace)
      ? `/${relative(this.#workspace, this.#home)}/\n`
      : "";
    await writeFile(join(this.#root, "info", "exclude"), `node_modules/\n${home}`);
    // Looked at by `forgetOld`.
    await utimes(this.#root, new Date(), new Date());
  }

  /** What is not in the index as it is on disk, or why that is too much. */
  async #changedFiles(): Promise<readonly string[] | NoSnapshot> {
    const list = ["ls-files", "-z", "--exclude-standard"];
    const known = names(await this.#git([...list, "--cached"]));
    const changed = new Set(names(await this.#git([...list, "--others", "--modified", "--deleted"])));
    if (known.length + changed.size > MOST_FILES)
      return { reason: `this folder has more than ${MOST_FILES} files that .gitignore does not name` };
    const kept: string[] = [];
    let bytes = 0;
    for (const path of changed) {
      // A repository inside this one is listed as a folder; it is somebody else's.
      if (path.endsWith("/")) continue;
      const found = await lstat(join(this.#workspace, path)).catch(() => undefined);
      if (found !== undefined && (found.size > LARGEST_FILE || !(found.isFile() || found.isSymbolicLink())))
        continue;
      bytes += found?.size ?? 0;
      if (bytes > MOST_BYTES)
        return { reason: "this folder holds more than 512 MB that .gitignore does not name" };
      kept.push(path);
    }
    return kept;
  }

  async #difference(one: Snapshot, other: Snapshot): Promise<ReadonlySet<string>> {
    return new Set(
      names(await this.#git(["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other])),
    );
  }

  async #bytesKept(): Promise<number> {
    const counted = await this.#git(["count-objects", "-v"]);
    const kibibytes = [...counted.matchAll(/^size(?:-pack)?: (\d+)$/gm)].map(([, size]) => Number(size));
    return kibibytes.reduce((sum, size) => sum + size, 0) * 1024;
  }

  #git(args: readonly string[], input?: string): Promise<string> {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
    const env = {
      ...Object.fromEntries(own),
      GIT_DIR: this.#root,
      GIT_WORK_TREE: this.#workspace,
      // Settings of the person or of the machine could name programs to be run.
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_LITERAL_PATHSPECS: "1",
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
    };
    const settings = [
      "core.autocrlf=false",
      "core.excludesFile=/dev/null",
      "core.hooksPath=/dev/null",
      "gc.auto=0",
    ];
    const words = [...settings.flatMap((setting) => ["-c", setting]), ...args];
    return new Promise((resolve, reject) => {
      const options = { cwd: this.#workspace, env, timeout: LONGEST_MS, maxBuffer: MOST_LISTED_BYTES };
      const child = execFile("git", words, options, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input ?? "");
    });
  }
}

function names(listed: string): readonly string[] {
  return listed.split("\0").filter((name) => name !== "");
}

function nulList(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}

/** Folders nobody has worked in for long. */
async function forgetOld(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const folder = join(root, name);
    const used = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - used > FORGOTTEN_AFTER_MS) await rm(folder, { recursive: true, force: true });
  }
}

function whyNot(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return "git is not installed";
  if (error instanceof Error && "killed" in error && error.killed === true)
    return `keeping this folder takes longer than ${LONGEST_MS / 1000} s`;
  return error instanceof Error ? (error.message.split("\n", 2).at(-1) ?? error.message) : String(error);
}
