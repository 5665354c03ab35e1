import type { McpServerConfig } from "../../config/mcp-server.js";
import { STATIC_TOOLSETS } from "../../registry/toolset-table.js";
import { ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import type { AnyTool } from "../../tool/tool.js";
import type { SourceHost } from "../types.js";
import { cleanLine } from "./clean-text.js";
import type { Definition } from "./definition.js";
import { describeChange } from "./definition-diff.js";
import { type Quarantined, readListedTools } from "./listed-tools.js";
import { sourceOf, toolNameOf, toolsetOf } from "./names.js";
import type { PinnedTool, ServerPins } from "./pins.js";
import type { DefinitionDrift, ShownChange } from "./status.js";
import type { RawToolList } from "./tool-list-guard.js";
import { mcpTool, type RemoteCalls, type ToolOptions } from "./tool-value.js";
import { utilityTools } from "./utility-tools.js";

interface Built {
  /** Changes whenever another tool value is needed. */
  readonly version: string;
  readonly tool: AnyTool;
}

/** The tools one server brings to the registry, and what is pinned of them. */
export class ServerTools {
  readonly #server: string;
  readonly #host: SourceHost;
  readonly #pins: ServerPins;
  readonly #options: ToolOptions;
  readonly #onAccepted: () => void;
  #current: ReadonlyMap<string, PinnedTool> = new Map();
  #built = new Map<string, Built>();
  #utilities = { resources: false, prompts: false };
  #utilityTools: readonly AnyTool[] = [];
  #unlisted: readonly Quarantined[] = [];
  #rejected: readonly Quarantined[] = [];
  #registered: readonly string[] = [];

  constructor(options: {
    readonly server: string;
    readonly config: McpServerConfig;
    readonly host: SourceHost;
    readonly pins: ServerPins;
    readonly remote: RemoteCalls;
    /** Told when a changed definition has become the one in force. */
    readonly onAccepted: () => void;
  }) {
    const { server, config, remote } = options;
    this.#onAccepted = options.onAccepted;
    this.#server = server;
    this.#host = options.host;
    this.#pins = options.pins;
    this.#options = { server, config, remote, begin: (tool) => this.#begin(tool) };
  }

  get names(): readonly string[] {
    return this.#registered;
  }

  get quarantined(): readonly Quarantined[] {
    return [...this.#unlisted, ...this.#rejected];
  }

  get changed(): readonly ShownChange[] {
    return this.drift.map(({ tool, change, fingerprint }) => ({ tool, change, fingerprint }));
  }

  get drift(): readonly DefinitionDrift[] {
    return [...this.#current.values()].flatMap(({ approved, changed }) => {
      if (changed === undefined) return [];
      const { definition, fingerprint } = changed;
      const change = describeChange(approved, definition);
      return [{ tool: shownName(approved), change, fingerprint, before: approved, now: definition }];
    });
  }

  /** Brings in what is known from before. True when there was something. */
  registerRemembered(): boolean {
    const remembered = this.#pins.remembered();
    const { memory } = this.#pins;
    if (remembered.length === 0 && memory === undefined) return false;
    const listed = readListedTools({
      server: this.#server,
      config: this.#options.config,
      tools: remembered.map(({ approved }) => approved),
      accepted: new Set(remembered.map(({ approved }) => approved.name)),
    });
    this.#unlisted = listed.quarantined;
    const usable = new Set(listed.definitions.map(({ name }) => name));
    this.#take(remembered.filter(({ approved }) => usable.has(approved.name)));
    this.#utilities = { resources: memory?.resources === true, prompts: memory?.prompts === true };
    this.#register();
    return true;
  }

  /** Takes up what the server lists now. */
  update(
    list: RawToolList,
    from: { readonly accepted: ReadonlySet<string>; readonly resources: boolean; readonly prompts: boolean },
  ): void {
    const { config } = this.#options;
    const listed = readListedTools({
      server: this.#server,
      config,
      tools: list.tools,
      accepted: from.accepted,
    });
    this.#unlisted = listed.quarantined;
    const { tools, fresh } = this.#pins.compare(listed.definitions);
    for (const name of fresh)
      this.#host.log.info(`MCP server ${this.#server} has a new tool: ${cleanLine(name, 100)}`);
    this.#tellChanges(tools);
    this.#take(tools);
    this.#utilities = { resources: from.resources, prompts: from.prompts };
    this.#register();
  }

  #tellChanges(tools: readonly PinnedTool[]): void {
    for (const { approved, changed } of tools) {
      const known = this.#current.get(approved.name)?.changed?.fingerprint;
      if (changed === undefined || changed.fingerprint === known) continue;
      this.#host.log.warn(
        `MCP server ${this.#server} changed its tool ${cleanLine(approved.name, 100)}; it is asked about before it is used: ` +
          describeChange(approved, changed.definition),
      );
    }
  }

  /** Accepts what one tool, or each of them, says now, or exactly the change that was shown; the tools it concerns. */
  approveChange(which?: string | ShownChange): readonly string[] {
    const [tool, fingerprint] = typeof which === "object" ? [which.tool, which.fingerprint] : [which];
    const accepted: string[] = [];
    for (const { approved, changed } of this.#current.values()) {
      const names = [approved.name, shownName(approved), toolNameOf(this.#server, approved.name)];
      if (changed === undefined || (tool !== undefined && !names.includes(tool))) continue;
      if (fingerprint !== undefined && fingerprint !== changed.fingerprint) continue;
      this.#pins.accept(changed.definition);
      accepted.push(approved.name);
    }
    if (accepted.length > 0) {
      this.#takeAccepted(new Set(accepted));
      this.#onAccepted();
    }
    return accepted;
  }

  /** Takes everything back. */
  withdraw(): void {
    this.#host.registry.swap({ ...this.#change(), tools: [] });
    this.#registered = [];
  }

  /** The very last look before a call goes out: this version must be one somebody has agreed to. */
  #begin(tool: PinnedTool): void {
    const { approved, changed } = tool;
    const current = this.#current.get(approved.name);
    if (current === undefined)
      throw new ToolError(
        `MCP server ${this.#server} no longer has the tool ${cleanLine(approved.name, 100)}`,
        {
          code: "unavailable",
        },
      );
    // A yes to a change is a yes to exactly that change.
    if (current.changed !== undefined && current.changed.fingerprint === changed?.fingerprint) {
      this.approveChange(approved.name);
      return;
    }
    const agreed = changed?.fingerprint ?? tool.fingerprint;
    if (current.changed === undefined && current.fingerprint === agreed) return;
    throw new ToolError(
      `the definition of ${cleanLine(approved.name, 100)} on MCP server ${this.#server} changed while it was being called; nothing was run`,
      { code: "denied", hint: "Call it again: the change will be shown to the person first." },
    );
  }

  #take(tools: readonly PinnedTool[]): void {
    this.#current = new Map(tools.map((tool) => [tool.approved.name, tool]));
  }

  #takeAccepted(accepted: ReadonlySet<string>): void {
    const tools = [...this.#current.values()].map((tool) =>
      tool.changed !== undefined && accepted.has(tool.approved.name)
        ? { approved: tool.changed.definition, fingerprint: tool.changed.fingerprint }
        : tool,
    );
    this.#take(tools);
    this.#register();
  }

  #register(): void {
    const rejected: Quarantined[] = [];
    const built = new Map<string, Built>();
    for (const pinned of this.#current.values()) {
      const { name } = pinned.approved;
      const version = `${pinned.fingerprint}>${pinned.changed?.fingerprint ?? ""}`;
      const known = this.#built.get(name);
      const made = known?.version === version ? known : this.#build(pinned, version, rejected);
      if (made !== undefined) built.set(name, made);
    }
    this.#built = built;
    const native = [...built.values()].map(({ tool }) => tool);
    const taken = new Set(native.map(({ name }) => name));
    const tools = [...native, ...this.#ownTools().filter(({ name }) => !taken.has(name))].filter((tool) =>
      this.#isFree(tool, rejected),
    );
    const report = this.#host.registry.swap({ ...this.#change(), tools });
    rejected.push(...report.rejected);
    this.#rejected = rejected;
    const left = new Set(report.rejected.map(({ name }) => name));
    this.#registered = tools.map(({ name }) => name).filter((name) => !left.has(name));
  }

  #build(pinned: PinnedTool, version: string, rejected: Quarantined[]): Built | undefined {
    try {
      return { version, tool: mcpTool(pinned, this.#options) };
    } catch (thrown) {
      const name = cleanLine(pinned.approved.name, 100);
      rejected.push({ name, reason: cleanLine(describeThrown(thrown).message, 300) });
      return undefined;
    }
  }

  #ownTools(): readonly AnyTool[] {
    const wanted = utilityTools(this.#options, this.#utilities);
    // The same objects as long as they are the same tools: nothing has changed then.
    if (wanted.map(({ name }) => name).join() !== this.#utilityTools.map(({ name }) => name).join())
      this.#utilityTools = wanted;
    return this.#utilityTools;
  }

  /** A name that another source has is never taken from it, not even by another server. */
  #isFree({ name }: AnyTool, rejected: Quarantined[]): boolean {
    const owner = this.#host.registry.get(name)?.toolset;
    if (owner === undefined || owner === toolsetOf(this.#server)) return true;
    rejected.push({ name, reason: `toolset ${owner} already has a tool of this name` });
    return false;
  }

  #change() {
    const server = this.#server;
    return {
      source: sourceOf(server),
      provenance: { kind: "mcp" as const, source: server },
      toolsetAliases: this.#mayHaveAlias() ? { [server]: toolsetOf(server) } : {},
    };
  }

  #mayHaveAlias(): boolean {
    const { registry, config } = this.#host;
    return (
      !/^(?:all|\*)$/.test(this.#server) &&
      !STATIC_TOOLSETS.has(this.#server) &&
      !Object.hasOwn(config.values.custom_toolsets, this.#server) &&
      !registry.snapshot().byToolset.has(this.#server)
    );
  }
}

function shownName({ name }: Definition): string {
  return cleanLine(name, 100);
}
