import type { LoadedConfig } from "../config/types.js";
import { bundledPlugins } from "../registry/bundled-plugins.gen.js";
import { type CustomToolset, type KnownToolsets, type Selection, selectTools } from "../registry/toolsets.js";
import { HermesError } from "../tool/errors.js";
import type { Runtime } from "./runtime.js";

/** The toolsets there are, whoever brought them, and which tools they switch on. */
export class ToolSelection {
  readonly #runtime: Runtime;
  readonly #platform: string | undefined;
  readonly #custom = new Map<string, CustomToolset>();
  /** Source → the toolsets it brings. */
  readonly #brought = new Map<string, Readonly<Record<string, CustomToolset>>>();
  #version = 0;

  constructor(runtime: Runtime, platform: string | undefined) {
    this.#runtime = runtime;
    this.#platform = platform;
  }

  /** Another number after every change. */
  get version(): number {
    return this.#version;
  }

  known(): KnownToolsets {
    const brought = [...this.#brought.values()].flatMap((toolsets) => Object.entries(toolsets));
    const custom = brought.length === 0 ? this.#custom : new Map([...brought, ...this.#custom]);
    return { registry: this.#runtime.registry.snapshot(), custom };
  }

  create(name: string, definition: CustomToolset): void {
    this.#custom.set(name, definition);
    this.#version += 1;
  }

  /** Those of the configuration, in the place of those it named before. */
  configure({ values }: LoadedConfig, before?: LoadedConfig): void {
    for (const name of Object.keys(before?.values.custom_toolsets ?? {})) this.#custom.delete(name);
    for (const [name, definition] of Object.entries(values.custom_toolsets))
      this.#custom.set(name, definition);
    this.#version += 1;
  }

  bring(source: string, toolsets: Readonly<Record<string, CustomToolset>>): void {
    if (Object.keys(toolsets).length > 0) this.#brought.set(source, toolsets);
    else if (!this.#brought.delete(source)) return;
    this.#version += 1;
  }

  /** Unknown names in the caller's lists are errors; those in config files were reported when it was loaded. */
  select(enabled: readonly string[] | undefined, disabled: readonly string[] = []): Selection {
    const { agent } = this.#runtime.config.values;
    const selection = selectTools(
      {
        enabled: enabled ?? this.#defaults(),
        disabled: [...agent.disabled_toolsets, ...disabled],
        disabledTools: this.#disabledTools(),
      },
      this.known(),
    );
    const [problem] = selection.problems;
    if (problem !== undefined) throw new HermesError(problem);
    return selection;
  }

  /** Why a tool is off, whatever toolsets a session asks for. */
  switchedOff(tool: string): string | undefined {
    const { agent } = this.#runtime.config.values;
    const disabledTools = this.#disabledTools();
    if (agent.disabled_toolsets.length + disabledTools.length === 0) return undefined;
    if (this.#runtime.registry.get(tool) === undefined) return undefined;
    const selection = selectTools(
      { enabled: [tool], disabled: agent.disabled_toolsets, disabledTools },
      this.known(),
    );
    return selection.selects(tool) ? undefined : selection.explain(tool).because;
  }

  /** A plugin of the package that is switched off takes its tools along. */
  #disabledTools(): readonly string[] {
    const { tools, plugins } = this.#runtime.config.values;
    if (plugins.disabled.length === 0) return tools.disabled;
    const off = bundledPlugins.filter(({ name }) => plugins.disabled.includes(name));
    return [...tools.disabled, ...off.flatMap((plugin) => plugin.tools)];
  }

  /** A flag beats the platform's own list, which beats the general one. */
  #defaults(): readonly string[] {
    const { config } = this.#runtime;
    const { values, env } = config;
    const own = this.#platform === undefined ? undefined : values.platform_toolsets[this.#platform];
    const byFlag = config.origin("toolsets").source === "flag";
    const toolsets = own === undefined || byFlag ? values.toolsets : own;
    return env.HERMES_KANBAN_TASK ? [...toolsets, "kanban"] : toolsets;
  }
}
