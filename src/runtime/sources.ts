import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../config/types.js";
import { toolFolders } from "../registry/user-module-files.js";
import type { ModuleSource } from "../sources/modules/source.js";
import type { PluginContributions, PluginSource } from "../sources/plugins/source.js";
import type { SourceHost, SourceStatus, ToolSource } from "../sources/types.js";
import { describeThrown } from "../tool/thrown.js";

/** One kind of source: whether the configuration has any of it, and how it is made. */
interface SourceKind {
  readonly kind: ToolSource["kind"];
  wanted(config: LoadedConfig): boolean;
  make(host: SourceHost): Promise<ToolSource>;
}

const KINDS: readonly SourceKind[] = [
  {
    kind: "module",
    wanted: (config) => moduleFolders(config).some(existsSync),
    make: async (host) => (await import("../sources/modules/source.js")).createModuleSource(host),
  },
  {
    kind: "yaml",
    wanted: (config) => yamlFolders(config).some(holdsYaml),
    make: async (host) => (await import("../sources/yaml/source.js")).createYamlSource(host),
  },
  {
    kind: "plugin",
    wanted: ({ values }) => values.plugins.enabled.length > 0,
    make: async (host) => (await import("../sources/plugins/source.js")).createPluginSource(host),
  },
  {
    kind: "mcp",
    wanted: ({ values }) => Object.keys(values.mcp_servers).length > 0,
    make: async (host) => (await import("../sources/mcp/source.js")).createMcpSource(host),
  },
];

/** Everything that brings tools in from outside. A kind that nothing asks for is not even imported. */
export class RuntimeSources {
  readonly #host: SourceHost;
  readonly #running = new Map<ToolSource["kind"], ToolSource>();
  #changing: Promise<void> = Promise.resolve();
  #kinds: readonly SourceKind[] = [];
  #closed = false;

  constructor(host: SourceHost) {
    this.#host = host;
  }

  /**
   * Resolves when what can be had at once is there; what takes longer goes on by itself. Kinds that are not named
   * stay out for good.
   */
  start(kinds: readonly ToolSource["kind"][] = KINDS.map(({ kind }) => kind)): Promise<void> {
    this.#kinds = KINDS.filter(({ kind }) => kinds.includes(kind));
    return this.refresh(this.#host.config);
  }

  /** Takes up changed files and a changed configuration. Changes that overlap happen one after the other. */
  refresh(config: LoadedConfig): Promise<void> {
    this.#changing = this.#changing.then(() => this.#apply(config));
    return this.#changing;
  }

  async #apply(config: LoadedConfig): Promise<void> {
    if (this.#closed) return;
    // Modules first: of two that bring the same name, it is always the same one that keeps it.
    for (const kind of this.#kinds.filter(isModule)) await this.#applyKind(kind, config);
    const others = this.#kinds.filter((kind) => !isModule(kind));
    await Promise.all(others.map((kind) => this.#applyKind(kind, config)));
  }

  async #applyKind(kind: SourceKind, config: LoadedConfig): Promise<void> {
    const running = this.#running.get(kind.kind);
    try {
      if (running !== undefined) await running.refresh(config);
      else if (kind.wanted(config)) {
        const source = await kind.make(this.#host);
        this.#running.set(kind.kind, source);
        await source.start();
      }
    } catch (thrown) {
      this.#host.log.error(
        `tools of kind ${kind.kind} could not be loaded: ${describeThrown(thrown).message}`,
      );
    }
  }

  /** Resolves when everything has been tried once; for programs that end after one answer. */
  async settled(signal?: AbortSignal): Promise<void> {
    await this.#changing;
    await Promise.all([...this.#running.values()].map((source) => source.settled(signal)));
  }

  status(): readonly SourceStatus[] {
    return [...this.#running.values()].flatMap((source) => source.status());
  }

  /** The running source of one kind, for commands that ask it for more than its status. */
  get(kind: ToolSource["kind"]): ToolSource | undefined {
    return this.#running.get(kind);
  }

  /** The tool folders' modules, once there is a folder. */
  get modules(): ModuleSource | undefined {
    return this.#running.get("module") as ModuleSource | undefined;
  }

  /** What plugins bring besides tools; undefined as long as none is enabled. */
  get plugins(): PluginContributions | undefined {
    return this.#running.get("plugin") as PluginSource | undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#changing;
    await Promise.all([...this.#running.values()].map((source) => source.close()));
    this.#running.clear();
  }
}

/** Where YAML tools lie: the person's folder, and the project's when it is trusted. */
export function yamlFolders(config: LoadedConfig): readonly string[] {
  const { project } = config;
  return [
    join(config.paths.home, "tools"),
    ...(project?.trusted === true ? [join(project.folder, ".hermes", "tools")] : []),
  ];
}

function moduleFolders({ paths, project }: LoadedConfig): readonly string[] {
  return toolFolders({
    home: paths.home,
    project: project === undefined ? undefined : { root: project.folder, trusted: project.trusted },
  }).map(({ path }) => path);
}

function isModule({ kind }: SourceKind): boolean {
  return kind === "module";
}

function holdsYaml(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => /\.ya?ml$/i.test(name));
}
