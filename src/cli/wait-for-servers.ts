import { LATE, within } from "../base/deadline.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import type { Runtime } from "../runtime/runtime.js";
import { toolSearchSettings } from "../search/settings.js";
import { toolNameOf } from "../sources/mcp/names.js";
import type { Output } from "./output.js";

/** A list is worth having without the servers that are slow to answer; a call of their own tool is not. */
const PATIENCE_MS = { list: 5_000, call: 15_000 };
/** Most servers answer before anybody wonders. */
const SAY_AFTER_MS = 700;

interface Awaited {
  readonly runtime: Runtime;
  readonly out: Output;
  /** Names that the command is about; undefined when it is about all tools there are. */
  readonly tools?: readonly string[] | undefined;
}

/**
 * Lets servers that were never met say what tools they have, for a command that ends after one answer. One that is
 * about tools known already waits for nobody, and whoever waits says what for.
 */
export async function waitForServers({ runtime, out, tools }: Awaited): Promise<void> {
  const awaited = () => pendingSources(runtime).filter((source) => concerns({ runtime, source, tools }));
  if (awaited().length === 0) return;
  const patience = tools === undefined ? PATIENCE_MS.list : PATIENCE_MS.call;
  const answered = new Promise<void>((resolve) => {
    const look = () => {
      if (awaited().length === 0) resolve();
    };
    runtime.events.on(look);
    void runtime.sources.settled().then(resolve);
    look();
  });
  if ((await within(answered, SAY_AFTER_MS)) !== LATE) return;
  out.note(`waiting for ${named(awaited())}, ${patience / 1_000} s at most`);
  if ((await within(answered, patience - SAY_AFTER_MS)) !== LATE) return;
  const late = awaited();
  if (late.length > 0) out.note(`${named(late)} did not answer: its tools are not known here`);
}

/** Whoever waits is told what for, once it has taken long enough to wonder. */
export async function tellingWhatFor<T>(
  work: Promise<T>,
  { out, what, seconds }: { readonly out: Output; readonly what: string; readonly seconds: number },
): Promise<T> {
  if ((await within(work, SAY_AFTER_MS)) === LATE) out.note(`waiting for ${what}, ${seconds} s at most`);
  return work;
}

/** `mcp:github`, `plugin:weather`: those that have brought nothing yet and still may. */
function pendingSources({ sources }: Runtime): readonly string[] {
  return sources
    .status()
    .filter(({ state, tools }) => isPending(state) && tools.length === 0)
    .map(({ source }) => source);
}

function isPending(state: string): boolean {
  return state === "connecting" || state === "configured";
}

/** A tool that is there needs nobody; one that is not may be of the server its name begins with, or of a plugin. */
function concerns(asked: {
  readonly runtime: Runtime;
  readonly source: string;
  readonly tools: readonly string[] | undefined;
}): boolean {
  const { runtime, source, tools } = asked;
  if (tools === undefined) return true;
  const registry = runtime.registry.snapshot();
  const { names } = toolSearchSettings({ values: runtime.config.values, registry, contextTokens: undefined });
  // The tools that search the others are about all of them.
  const standIns = Object.values(names);
  const server = /^mcp:(.*)$/s.exec(source)?.[1];
  const prefix = server === undefined ? "" : toolNameOf(server, "").toLowerCase();
  return tools.some((tool) => {
    const spellings = normalizeToolName(tool);
    if (spellings.some((one) => registry.entries.has(one) || registry.aliases.has(one))) return false;
    return spellings.some((one) => standIns.includes(one) || one.toLowerCase().startsWith(prefix));
  });
}

function named(sources: readonly string[]): string {
  return sources.map((one) => one.replace(/^mcp:/, "MCP server ").replace(/^plugin:/, "plugin ")).join(", ");
}
