import { LruMap } from "../base/lru.js";
import type { Logger } from "../observe/log.js";
import { checkSchema } from "../tool/check-schema.js";
import { describeThrown } from "../tool/thrown.js";
import type { SchemaView, ToolSchema } from "../tool/tool.js";
import { shownName, type Vocabulary } from "./aliases.js";
import type { AvailabilityCache, Status } from "./availability.js";
import { type Entry, isForeign, type ToolDefinition } from "./entry.js";

export type { ToolDefinition };

/** What the checks of a pass said, each asked once, all at the same time. Tools without a check are not in it. */
export async function statusesOf(
  entries: Iterable<Entry>,
  availability: AvailabilityCache,
): Promise<ReadonlyMap<string, Status>> {
  const statuses = new Map<string, Status>();
  const asked: Promise<void>[] = [];
  for (const entry of entries) {
    if (entry.checkFn === undefined && entry.needs === undefined) continue;
    const status = availability.statusOf(entry);
    if (status instanceof Promise) asked.push(status.then((value) => void statuses.set(entry.name, value)));
    else statuses.set(entry.name, status);
  }
  await Promise.all(asked);
  return statuses;
}

export function isReady(statuses: ReadonlyMap<string, Status>, entry: Entry): boolean {
  return statuses.get(entry.name)?.ok !== false;
}

/**
 * Definitions of the available tools, sorted by the shown name. The same entries give the same bytes,
 * however often and in whatever order they were registered.
 */
export async function buildDefinitions(options: {
  /** Sorted by name, as a snapshot has them. */
  readonly entries: Iterable<Entry>;
  readonly statuses: ReadonlyMap<string, Status>;
  readonly vocabulary: Vocabulary;
  readonly log: Logger;
  readonly settingsFor?: (tool: string) => Readonly<Record<string, unknown>>;
}): Promise<readonly ToolDefinition[]> {
  const { statuses, vocabulary, log, settingsFor } = options;
  const present: Entry[] = [];
  for (const entry of options.entries) if (isReady(statuses, entry)) present.push(entry);
  const view = schemaViewOf(present);
  const definitions: ToolDefinition[] = [];
  for (const entry of present) {
    if (!entry.hasDynamicSchema && vocabulary === "hermes") definitions.push(entry.definition);
    else {
      const shown = shownName(entry.name, vocabulary);
      // Never two definitions of one name: providers refuse the whole list.
      const name = shown !== entry.name && view.has(shown) ? entry.name : shown;
      const plain: ToolSchema = { ...entry.definition.function, name };
      const schema = entry.hasDynamicSchema
        ? await patched({ entry, plain, view: withSettings(view, settingsFor?.(entry.name)), log })
        : plain;
      definitions.push({ type: "function", function: schema });
    }
  }
  if (vocabulary !== "hermes") definitions.sort((a, b) => (a.function.name < b.function.name ? -1 : 1));
  return Object.freeze(definitions);
}

/** Made only for tools whose schema depends on the others. */
function schemaViewOf(present: readonly Entry[]): SchemaView {
  let names: ReadonlySet<string> | undefined;
  const known = () => {
    names ??= new Set(present.map((entry) => entry.name));
    return names;
  };
  return {
    get names() {
      return known();
    },
    has: (name) => known().has(name),
  };
}

function withSettings(view: SchemaView, settings: SchemaView["settings"]): SchemaView {
  if (settings === undefined) return view;
  return { names: view.names, has: (name) => view.has(name), settings };
}

/** A patch that throws leaves the static schema in place: a model is better off with it than without the tool. */
async function patched(options: {
  readonly entry: Entry;
  readonly plain: ToolSchema;
  readonly view: SchemaView;
  readonly log: Logger;
}): Promise<ToolSchema> {
  const { entry, plain, view } = options;
  try {
    const tool = await entry.load();
    const patch: unknown = await tool.dynamicSchemaOverrides?.(view);
    return patch === undefined ? plain : { ...plain, ...usablePatch(patch, isForeign(entry.provenance)) };
  } catch (error) {
    options.log.warn(
      `dynamic schema of tool ${entry.name} failed, using the static one: ${describeThrown(error).message}`,
    );
    return plain;
  }
}

const LONGEST_DESCRIPTION = 20_000;

/** Only a description and parameters that a provider will accept; anything else throws. */
function usablePatch(patch: unknown, foreign: boolean): Partial<ToolSchema> {
  if (typeof patch !== "object" || patch === null) throw new TypeError("the patch is not an object");
  const { description, parameters } = patch as Partial<ToolSchema>;
  if (
    description !== undefined &&
    (typeof description !== "string" || description.length > LONGEST_DESCRIPTION)
  ) {
    throw new TypeError("the description is not a text of reasonable length");
  }
  const problem = parameters === undefined ? undefined : checkSchema(parameters, { foreign });
  if (problem !== undefined) throw new TypeError(problem.message);
  return {
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters: JSON.parse(JSON.stringify(parameters)) }),
  };
}

interface Memo {
  readonly definitions: readonly ToolDefinition[];
  readonly freshUntil: number;
}

const MAX_MEMOS = 8;

/** Remembers whole passes; the key must name everything a pass depends on but availability. */
export class DefinitionsMemo {
  readonly #memos = new LruMap<string, Memo>(MAX_MEMOS);

  get(key: string, now: number): readonly ToolDefinition[] | undefined {
    const memo = this.#memos.get(key);
    return memo === undefined || now >= memo.freshUntil ? undefined : memo.definitions;
  }

  set(key: string, memo: Memo): void {
    this.#memos.set(key, memo);
  }
}
