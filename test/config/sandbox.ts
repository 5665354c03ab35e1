import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../src/config/load.js";
import type { ConfigProblem, LoadedConfig } from "../../src/config/types.js";

/** A machine of its own: system folder, home and a project, all in one temporary folder. */
export interface Sandbox extends Disposable {
  readonly root: string;
  readonly home: string;
  readonly system: string;
  readonly project: string;
  write(path: string, text: string | Uint8Array): string;
  load(options?: {
    env?: Record<string, string | undefined>;
    flags?: Record<string, unknown>;
    cwd?: string;
  }): Promise<LoadedConfig>;
  trustProject(): void;
}

export function sandbox(): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-config-")));
  const home = join(root, "home");
  const system = join(root, "etc");
  const project = join(root, "project");
  for (const folder of [home, system, project]) mkdirSync(folder, { recursive: true });
  const write = (path: string, text: string | Uint8Array) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return {
    root,
    home,
    system,
    project,
    write,
    load: (options = {}) =>
      loadConfig({
        home,
        cwd: options.cwd ?? project,
        env: options.env ?? {},
        flags: options.flags ?? {},
        systemDir: system,
      }),
    trustProject: () => void write("home/trusted_folders", `${project}\n`),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function errorsOf(loaded: LoadedConfig): readonly ConfigProblem[] {
  return loaded.problems.filter((problem) => problem.severity === "error");
}
