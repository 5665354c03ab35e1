import type { EffectLocks } from "../call/effect-locks.js";
import type { Journal } from "../call/journal.js";
import type { Policy } from "../call/scope.js";
import { loadConfig } from "../config/load.js";
import { homeDir, usableHome } from "../config/paths.js";
import { formatProblem } from "../config/types.js";
import { createLogger, type Logger, type LogLevel, silentLogger } from "../observe/log.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import { defaultRegistry } from "../registry/active.js";
import { builtinManifest } from "../registry/builtin-manifest.gen.js";
import { Entry } from "../registry/entry.js";
import type { BuiltinEntry } from "../registry/manifest-types.js";
import type { ToolRegistry } from "../registry/registry.js";
import { type BaseTool, isBaseToolInstance, toolFromBase } from "../tool/base-tool.js";
import type { AnyTool } from "../tool/tool.js";
import { refuseUnknownOptions } from "./check-options.js";
import { KNOWN_SESSION_OPTIONS } from "./open-session-options.js";
import { Runtime } from "./runtime.js";

export interface RuntimeOptions {
  /** Hermes home; `HERMES_HOME` or `~/.hermes` when left out. */
  readonly home?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Command-line flags or key paths (`"log.level": "debug"`), above every file. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Tools of this program, for as long as the runtime lives; they cover built-in ones of the same name. */
  readonly tools?: readonly (AnyTool | BaseTool)[];
  /** Where tools are registered; the registry that `registry.register` fills when left out. */
  readonly registry?: ToolRegistry;
  /** False leaves the built-in tools out. */
  readonly builtins?: boolean;
  /** False skips the tool folders of the person and the project. */
  readonly userTools?: boolean;
  /** False leaves out what comes from elsewhere: MCP servers, YAML tools, plugins. */
  readonly sources?: boolean;
  /**
   * Takes up changes of tools and configuration while the program runs, until the runtime is closed. With `true` what
   * loosens (new or changed code of tools, settings that allow more) waits for a person: `hermes changes accept`.
   * "unheld" takes up everything at once: for a program whose own tools cannot write to the Hermes home.
   */
  readonly watch?: boolean | "unheld";
  /**
   * False keeps no record of calls, a journal takes the place of the database of the Hermes home and is closed with
   * the runtime; otherwise as configured.
   */
  readonly journal?: boolean | Journal | undefined;
  /** Lets clashing calls wait for each other; in this process alone when left out. */
  readonly locks?: EffectLocks | undefined;
  /** Opens what questions wait in for an answer; the database of the Hermes home when left out. */
  readonly approvals?: (() => Promise<ApprovalStore>) | undefined;
  /** Replaces the built-in policy. */
  readonly policy?: Policy | undefined;
  /** Answers every question with yes; the hardline floor and denials stay. */
  readonly yolo?: boolean | undefined;
  /** Which list of `platform_toolsets` counts ("cli", "telegram" …). */
  readonly platform?: string | undefined;
  readonly logger?: Logger;
  /** Instead of /etc/hermes. */
  readonly systemDir?: string;
}

const KNOWN: Readonly<Record<keyof RuntimeOptions, true>> = {
  home: true,
  cwd: true,
  env: true,
  flags: true,
  tools: true,
  registry: true,
  builtins: true,
  userTools: true,
  sources: true,
  watch: true,
  journal: true,
  locks: true,
  approvals: true,
  policy: true,
  yolo: true,
  platform: true,
  logger: true,
  systemDir: true,
};

/** Reads the configuration, registers the tools, and is ready for sessions. Nothing slow happens before it is needed. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  refuseUnknownOptions(options, {
    known: KNOWN,
    of: "createRuntime",
    elsewhere: { known: KNOWN_SESSION_OPTIONS, of: "runtime.openSession" },
  });
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const home = options.home === undefined ? homeDir({ env }) : usableHome(options.home);
  const readConfig = () =>
    loadConfig({
      home,
      cwd,
      env,
      flags: options.flags,
      systemDir: options.systemDir,
    });
  const config = await readConfig();
  const level = config.values.log.level;
  const log = options.logger ?? (await loggerFor(level, config.paths.cache));
  // A wrong flag is the caller's to report: it was given a moment ago.
  for (const problem of config.problems) if (problem.source !== "flag") log.warn(formatProblem(problem));
  const registry = options.registry ?? defaultRegistry;
  if (options.builtins !== false) registerBuiltins(registry, builtinManifest);
  const runtime = new Runtime({
    config,
    cwd,
    registry,
    log,
    readConfig,
    journal: options.journal ?? config.values.journal.enabled,
    locks: options.locks,
    approvals: options.approvals,
    policy: options.policy,
    yolo: options.yolo,
    platform: options.platform,
  });
  if (options.tools !== undefined) {
    const standing = registry.scoped(
      options.tools.map((tool) => (isBaseToolInstance(tool) ? toolFromBase(tool) : tool)),
    );
    runtime.beforeClose(async () => standing[Symbol.dispose]());
  }
  if (options.userTools !== false) {
    await runtime.sources.start(options.sources === false ? ["module"] : undefined);
    for (const { file, line, message, stack } of runtime.discovery.problems) {
      runtime.log.warn(`${file}${line === undefined ? "" : `:${line}`} skipped: ${message}`);
      if (stack !== undefined) runtime.log.debug(stack);
    }
  }
  if (options.watch !== undefined && options.watch !== false) {
    const { watchForChanges } = await import("./reload/watch-for-changes.js");
    await watchForChanges(runtime, { hold: options.watch === "unheld" ? undefined : "everything" });
  }
  return runtime;
}

/** Who wants to know everything wants stacks too, with the lines of their own files. */
async function loggerFor(level: LogLevel | "silent", cacheDir: string): Promise<Logger> {
  if (level === "silent") return silentLogger;
  if (level !== "debug") return createLogger({ level });
  const { readablePlaces } = await import("../registry/user-module-errors.js");
  return createLogger({
    level,
    sink: (line) => process.stderr.write(`${readablePlaces(line, cacheDir)}\n`),
  });
}

/** Registers the built-in tools from the manifest; none of their modules is imported by this. */
function registerBuiltins(registry: ToolRegistry, manifest: readonly BuiltinEntry[]): void {
  for (const row of manifest) {
    const entry: Entry = new Entry({
      statics: {
        ...row,
        ...(row.hasCheck && { checkFn: async () => (await entry.load()).checkFn?.() ?? true }),
      },
      provenance:
        row.plugin === undefined ? { kind: "builtin" } : { kind: "builtin", source: `plugin:${row.plugin}` },
      hasDynamicSchema: row.hasDynamicSchema,
      load: async () => (await row.load()).default,
    });
    registry.addEntry(entry);
  }
}
