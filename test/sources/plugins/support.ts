import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { loadConfig } from "../../../src/config/load.js";
import type { LogLevel } from "../../../src/observe/log.js";
import { createLogger } from "../../../src/observe/log.js";
import { ToolRegistry } from "../../../src/registry/registry.js";
import { createRuntime, type RuntimeOptions } from "../../../src/runtime/create-runtime.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { findPlugins } from "../../../src/sources/plugins/find-plugins.js";
import { fingerprintOf } from "../../../src/sources/plugins/fingerprint.js";
import { confirmPlugin } from "../../../src/sources/plugins/trust-rows.js";
import { openStore } from "../../../src/store/store.js";

const folders: string[] = [];
const runtimes: Runtime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface House {
  readonly home: string;
  readonly cwd: string;
  readonly log: { readonly line: string; readonly level: LogLevel }[];
  /** Writes `plugins/NAME/…`, or another place. */
  plugin(name: string, files: Readonly<Record<string, string>>, place?: string): string;
  config(text: string): void;
  /** What `hermes plugins enable` does for the files. */
  confirm(name: string, options?: { readonly dev?: boolean }): Promise<void>;
  open(options?: RuntimeOptions): Promise<Runtime>;
  /** Takes up what has changed, as the watcher does. */
  refresh(runtime: Runtime): Promise<void>;
}

export function house(): House {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-plugins-")));
  folders.push(home);
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const log: { line: string; level: LogLevel }[] = [];
  const read = () => loadConfig({ home, cwd, env: { HOME: home }, systemDir: join(home, "no-etc") });
  return {
    home,
    cwd,
    log,
    plugin(name, files, place = join(home, "plugins")) {
      const folder = join(place, name);
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text);
      }
      return folder;
    },
    config: (text) => writeFileSync(join(home, "config.yaml"), text),
    async confirm(name, options = {}) {
      const found = (await findPlugins(await read())).find((plugin) => plugin.name === name);
      if (found === undefined) throw new Error(`no plugin ${name}`);
      const store = await openStore({ path: join(home, "state.db") });
      const fingerprint = await fingerprintOf(found.folder);
      await confirmPlugin(store, { plugin: found, fingerprint, dev: options.dev === true });
      await store.close();
    },
    async open(options = {}) {
      const logger = createLogger({ level: "debug", sink: (line, level) => void log.push({ line, level }) });
      const runtime = await createRuntime({
        home,
        cwd,
        env: { HOME: home, PATH: process.env.PATH },
        systemDir: join(home, "no-etc"),
        registry: new ToolRegistry(),
        builtins: false,
        logger,
        ...options,
      });
      runtimes.push(runtime);
      await runtime.sources.settled();
      return runtime;
    },
    refresh: async (runtime) => runtime.applyConfig(await read()),
  };
}

/** A manifest with these lines besides the name. */
export function manifest(name: string, ...lines: readonly string[]): string {
  return [`name: ${name}`, "version: 1.0.0", ...lines, ""].join("\n");
}

export function statusOf(runtime: Runtime, name: string) {
  return runtime.sources.status().find(({ source }) => source === `plugin:${name}`);
}
