import { readFile } from "node:fs/promises";
import type { LoadedConfig } from "../../config/types.js";
import { withActiveRegistry } from "../../registry/active.js";
import {
  type DiscoveryProblem,
  type DiscoveryReport,
  discoverUserTools,
  toolFolders,
  type UserModule,
} from "../../registry/discover.js";
import type { Entry, Provenance } from "../../registry/entry.js";
import { type AddOptions, type SwapReport, ToolRegistry } from "../../registry/registry.js";
import { type ModuleVerdict, scanModule } from "../../registry/scan-module.js";
import { filesBehind } from "../../registry/user-module-hooks.js";
import type { AnyTool } from "../../tool/tool.js";
import type { SourceHost, SourceStatus, ToolSource } from "../types.js";
import { registrableTools } from "./module-tools.js";

export interface ModuleSource extends ToolSource {
  readonly kind: "module";
  /** What was found in the tool folders, for `doctor`. */
  report(): DiscoveryReport;
  /** Every file the modules were made of, also those outside the tool folders. */
  files(): readonly string[];
}

export interface ModuleSourceOptions {
  /** How long the top level of one module may take. */
  readonly deadlineMs?: number;
}

/** What is known of one file with tools. */
interface Known {
  readonly info: UserModule;
  /** What was read when it was last tried, with everything behind it. */
  readonly files: ReadonlyMap<string, string>;
  readonly tools: readonly string[];
  readonly problem: DiscoveryProblem | undefined;
  readonly rejected: SwapReport["rejected"];
}

/** The modules in the tool folders of the person and of a trusted project. */
export function createModuleSource(host: SourceHost, options: ModuleSourceOptions = {}): ModuleSource {
  return new UserModules(host, options);
}

class UserModules implements ModuleSource {
  readonly kind = "module";
  readonly #host: SourceHost;
  readonly #options: ModuleSourceOptions;
  readonly #known = new Map<string, Known>();
  #helpers: readonly string[] = [];
  /** Of folders and files that no module came from. */
  #unread: readonly DiscoveryProblem[] = [];

  constructor(host: SourceHost, options: ModuleSourceOptions) {
    this.#host = host;
    this.#options = options;
  }

  start(): Promise<void> {
    return this.refresh(this.#host.config);
  }

  async settled(): Promise<void> {}

  /** Imports what has changed, and puts all of it in its place in one go when the last import is over. */
  async refresh(config: LoadedConfig): Promise<void> {
    const { paths, project } = config;
    const tried = new Map<string, ReadonlyMap<string, string>>();
    const collected = new Map<string, CollectedTools>();
    const current = new Set<string>();
    const report = await discoverUserTools({
      folders: toolFolders({
        home: paths.home,
        project: project && { root: project.folder, trusted: project.trusted },
      }),
      cacheDir: paths.cache,
      deadlineMs: this.#options.deadlineMs,
      isCurrent: (info) => {
        const files = filesBehind(info.file);
        if ([info.file, ...files.keys()].some((file) => this.#host.isHeld?.(file) === true)) {
          current.add(info.file);
          return true;
        }
        tried.set(info.file, files);
        const known = this.#known.get(info.file);
        if (known === undefined || known.problem?.stage === "parse" || !isSame(known.files, files))
          return false;
        current.add(info.file);
        return true;
      },
      around: async (info, load) => {
        const tools = new CollectedTools();
        const namespace = await withActiveRegistry({ registry: tools, provenance: provenanceOf(info) }, load);
        if (!isSame(tried.get(info.file), filesBehind(info.file))) {
          throw new Error("the file changed while it was read");
        }
        collected.set(info.file, tools);
        return namespace;
      },
      register: (module, info) => {
        const found = collected.get(info.file);
        for (const tool of registrableTools(module, info.file)) {
          found?.add(tool, { provenance: provenanceOf(info) });
        }
        if (found?.isEmpty === true) throw new Error("nothing that it exports or registers is a tool");
      },
    });
    const unfinished = await this.#unfinishedAmong(report.helpers);
    this.#take({
      report: { ...report, problems: [...report.problems, ...unfinished] },
      tried,
      collected,
      current,
    });
  }

  /** A file that brought tools and brings none now may be meant so, or be half-written. */
  async #unfinishedAmong(helpers: readonly string[]): Promise<readonly DiscoveryProblem[]> {
    const problems: DiscoveryProblem[] = [];
    for (const file of helpers) {
      const known = this.#known.get(file);
      if (known === undefined) continue;
      const text = await readFile(file, "utf8").catch(() => "");
      const verdict: ModuleVerdict =
        text.trim() === ""
          ? { kind: "broken", message: "the file is empty, but it brought tools before", line: 1 }
          : scanModule({ file, text, thoroughly: true });
      if (verdict.kind !== "broken") continue;
      const { message, line } = verdict;
      problems.push({ file, origin: known.info.origin, stage: "parse", message, line });
    }
    return problems;
  }

  /** Synchronous, so that nobody sees the new version of one file beside the old version of another. */
  #take(found: {
    readonly report: DiscoveryReport;
    readonly tried: ReadonlyMap<string, ReadonlyMap<string, string>>;
    readonly collected: ReadonlyMap<string, CollectedTools>;
    readonly current: ReadonlySet<string>;
  }): void {
    const { report, tried, collected, current } = found;
    for (const info of report.loaded) {
      const tools = collected.get(info.file);
      if (tools === undefined) continue;
      const { rejected } = this.#swap(info, tools);
      const refused = new Set(rejected.map(({ name }) => name));
      this.#known.set(info.file, {
        info,
        files: tried.get(info.file) ?? new Map(),
        tools: tools.tools().flatMap(({ name }) => (refused.has(name) ? [] : name)),
        problem: undefined,
        rejected,
      });
    }
    const unread: DiscoveryProblem[] = [];
    for (const problem of report.problems) {
      const before = this.#known.get(problem.file);
      const files = tried.get(problem.file);
      if (before === undefined && files === undefined) unread.push(problem);
      else
        this.#known.set(problem.file, {
          info: before?.info ?? { file: problem.file, folder: "", origin: problem.origin },
          tools: before?.tools ?? [],
          rejected: before?.rejected ?? [],
          files: files ?? filesBehind(problem.file),
          problem,
        });
    }
    this.#unread = unread;
    const troubled = new Set(report.problems.map(({ file }) => file));
    this.#helpers = report.helpers.filter((file) => !troubled.has(file));
    const there = new Set([...current, ...report.loaded, ...report.problems].map(fileOf));
    for (const { info } of [...this.#known.values()]) {
      // A folder that cannot be read now says nothing about the files in it.
      if (there.has(info.file) || there.has(info.folder)) continue;
      this.#known.delete(info.file);
      this.#swap(info, new CollectedTools());
    }
  }

  #swap(info: UserModule, collected: CollectedTools): SwapReport {
    const { registry } = this.#host;
    for (const name of collected.takenOut) registry.deregister(name);
    const tools = collected.tools();
    // A person's own module may replace a tool of the toolset that it names as its own.
    const sameToolset = tools.flatMap(({ name, toolset }) =>
      registry.get(name)?.toolset === toolset ? name : [],
    );
    return registry.swap({
      source: sourceOf(info.file),
      provenance: provenanceOf(info),
      tools,
      overrides: new Set([...collected.overrides, ...sameToolset]),
      toolsetAliases: collected.toolsetAliases,
    });
  }

  report(): DiscoveryReport {
    const known = [...this.#known.values()];
    return {
      loaded: known.flatMap(({ info, problem }) => (problem === undefined ? info : [])),
      helpers: this.#helpers,
      problems: [...known.flatMap(({ problem }) => problem ?? []), ...this.#unread],
    };
  }

  files(): readonly string[] {
    return [...new Set([...this.#known.values()].flatMap(({ files }) => [...files.keys()]))];
  }

  status(): readonly SourceStatus[] {
    const known = [...this.#known.values()].map(statusOf);
    return [...known, ...this.#unread.map((problem) => statusOf({ problem, tools: [], rejected: [] }))];
  }

  async close(): Promise<void> {}
}

function statusOf(
  module: Pick<Known, "problem" | "tools" | "rejected"> & { info?: UserModule },
): SourceStatus {
  const { info, problem, tools, rejected } = module;
  const file = info?.file ?? problem?.file ?? "";
  const common = { source: sourceOf(file), tools, quarantined: rejected };
  if (problem === undefined) return { ...common, state: "ready" };
  const { line, message } = problem;
  return {
    ...common,
    state: tools.length > 0 ? "degraded" : "failed",
    reason: `${line === undefined ? "" : `line ${line}: `}${message}`,
    fix:
      tools.length > 0
        ? "mend the file; until then its tools stay as they were"
        : "mend the file; until then it brings no tools",
  };
}

function sourceOf(file: string): string {
  return `module:${file}`;
}

function provenanceOf({ origin, file }: UserModule): Provenance {
  return { kind: origin, source: file };
}

function fileOf(found: string | { readonly file: string }): string {
  return typeof found === "string" ? found : found.file;
}

function isSame(before: ReadonlyMap<string, string> | undefined, now: ReadonlyMap<string, string>): boolean {
  return (
    before !== undefined &&
    before.size === now.size &&
    [...now].every(([file, hash]) => before.get(file) === hash)
  );
}

/**
 * What one module registers, kept apart until its whole top level has run: a module that fails half-way leaves
 * nothing behind.
 */
class CollectedTools extends ToolRegistry {
  readonly overrides = new Set<string>();
  readonly toolsetAliases: Record<string, string> = {};
  /** Names of others that the module takes out of the registry. */
  readonly takenOut = new Set<string>();

  override addEntry(entry: Entry, options: Pick<AddOptions, "override"> = {}): boolean {
    const added = super.addEntry(entry, options);
    if (added && options.override === true) this.overrides.add(entry.name);
    return added;
  }

  override deregister(name: string): boolean {
    const ours = super.deregister(name);
    if (!ours) this.takenOut.add(name);
    return true;
  }

  override aliasToolset(alias: string, canonical: string): void {
    this.toolsetAliases[alias] = canonical;
  }

  get isEmpty(): boolean {
    const changes = this.takenOut.size + Object.keys(this.toolsetAliases).length;
    return changes === 0 && this.snapshot().entries.size === 0;
  }

  tools(): readonly AnyTool[] {
    return [...this.snapshot().entries.values()].flatMap((entry) => entry.tool ?? []);
  }
}
