import type { HookName, Hooks, HookTypes } from "../../call/hooks.js";
import type { Logger } from "../../observe/log.js";
import type { AnyTool } from "../../tool/tool.js";
import type { Collected } from "./collected.js";
import { closeAll, namingBlocks } from "./load-plugin.js";

const LONGEST_WAIT_MS = 5_000;

/** One loaded version of a plugin: in force until the next one takes its place. */
export class RunningPlugin {
  readonly collected: Collected;
  /** Files, settings and variables it was made of. */
  readonly version: string;
  readonly tools: readonly AnyTool[];
  readonly #log: Logger;
  readonly #onBlocked: (what: string, heldMs: number) => void;
  /** Tools that are registered or whose last call has not ended. */
  readonly #standing = new Set<string>();
  #removeHooks: (() => void)[] = [];
  #retired = false;
  #onClosed: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(options: {
    readonly collected: Collected;
    readonly version: string;
    readonly log: Logger;
    readonly onBlocked: (what: string, heldMs: number) => void;
  }) {
    this.collected = options.collected;
    this.version = options.version;
    this.#log = options.log;
    this.#onBlocked = options.onBlocked;
    this.tools = [...options.collected.tools.values()].map((tool) => this.#tellingItsEnd(tool));
  }

  /** Which of its tools were really registered; the others never end. */
  registered(names: Iterable<string>): void {
    for (const name of names) this.#standing.add(name);
  }

  addHooks(hooks: Hooks): void {
    this.#removeHooks = this.collected.hooks.map(({ name, run, options }) => {
      const timed = (event: never) =>
        namingBlocks(
          () => (run as (event: never) => unknown)(event),
          (heldMs) => this.#onBlocked(`hook ${name}`, heldMs),
        );
      return hooks.on(name, timed as HookTypes[HookName], options);
    });
  }

  removeHooks(): void {
    for (const remove of this.#removeHooks.splice(0)) remove();
  }

  /** No longer in force: closes when the last call of its tools is over, and then tells of it. */
  retire(onClosed: () => void = () => {}): void {
    this.#retired = true;
    this.#onClosed = onClosed;
    if (this.#standing.size === 0) void this.#close();
  }

  /** Resolves when everything is closed; calls that do not end are not waited for beyond a few seconds. */
  async ended(): Promise<void> {
    const until = performance.now() + LONGEST_WAIT_MS;
    while (this.#standing.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await this.#close();
  }

  #close(): Promise<void> {
    this.#closing ??= closeAll(this.collected, this.#log).then(() => this.#onClosed());
    return this.#closing;
  }

  #tellingItsEnd(tool: AnyTool): AnyTool {
    const dispose = tool.dispose?.bind(tool);
    return Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null), tool, {
      dispose: async () => {
        try {
          await dispose?.();
        } finally {
          this.#standing.delete(tool.name);
          if (this.#retired && this.#standing.size === 0) void this.#close();
        }
      },
    }) as AnyTool;
  }
}
