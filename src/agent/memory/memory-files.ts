import { join } from "node:path";
import { withFileLock } from "../../config/lock.js";
import type { LoadedConfig } from "../../config/types.js";
import { threatIn } from "../../places/threats.js";
import { ToolError } from "../../tool/errors.js";
import type {
  MemoryContent,
  MemoryHost,
  MemoryOperation,
  MemoryTarget,
} from "../../tool/host-capabilities.js";
import { changed, contentOf, entriesIn, textOfEntries } from "./entries.js";
import { keepCopy, readMemoryFile, swapMemoryFile } from "./memory-file.js";
import { digestOf, type EntrySource, type EntrySources, readSources, writeSources } from "./sources.js";

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: "MEMORY.md", user: "USER.md" };

/** So often may an editor be quicker than us. */
const ATTEMPTS = 5;

export interface MemoryOptions {
  readonly folder: string;
  readonly maxChars: Readonly<Record<MemoryTarget, number>>;
  /** The conversation that what is added comes from. */
  readonly session: string;
}

export function memoryOf(config: LoadedConfig, session: string): MemoryFiles {
  const { max_chars: memory, user_max_chars: user } = config.values.memory;
  return new MemoryFiles({ folder: config.paths.memories, maxChars: { memory, user }, session });
}

/**
 * Memory as Markdown files that people read and edit. Nothing is kept in between: every change reads the file anew while
 * it holds the lock, so that what others have written meanwhile, with the lock or without, stays.
 */
export class MemoryFiles implements MemoryHost {
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async read(target: MemoryTarget): Promise<MemoryContent> {
    const { text } = await readMemoryFile(this.#path(target));
    return contentOf(entriesIn(text), this.#options.maxChars[target]);
  }

  /** Where the entries of a file came from, as far as it is known. */
  async sources(target: MemoryTarget): Promise<(entry: string) => EntrySource | undefined> {
    const known = await readSources(this.#sourcesPath(target));
    return (entry) => known[digestOf(entry)];
  }

  async change({
    target,
    operations,
    heard = [],
  }: Parameters<MemoryHost["change"]>[0]): Promise<MemoryContent> {
    refuseThreats(operations);
    const path = this.#path(target);
    const outcome = await withFileLock(path, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const after = await this.#tryToChange({ target, operations, heard });
        if (after !== undefined) return after;
      }
      throw new ToolError(`${path} is being edited by somebody else; nothing was changed.`, {
        code: "failed",
        hint: "Try again in a moment.",
      });
    });
    if ("code" in outcome) {
      const { code, message, hint } = outcome;
      throw new ToolError(`${message}; nothing was changed.`, { code, hint });
    }
    return outcome;
  }

  /** Undefined when somebody changed the file meanwhile. */
  async #tryToChange({
    target,
    operations,
    heard,
  }: {
    readonly target: MemoryTarget;
    readonly operations: readonly MemoryOperation[];
    readonly heard: readonly string[];
  }): Promise<MemoryContent | undefined> {
    const maxChars = this.#options.maxChars[target];
    const read = await readMemoryFile(this.#path(target));
    const before = entriesIn(read.text);
    const after = changed(before, operations, maxChars);
    const text = textOfEntries(after);
    const isUnchanged =
      after.length === before.length && after.every((entry, index) => entry === before[index]);
    if (isUnchanged) return contentOf(after, maxChars);
    if (read.text.trim() !== textOfEntries(before)) await keepCopy(read);
    // Before the entries: one that is there without its source would count as the person's own.
    const sources = await this.#withNew(target, { after, before, heard });
    await writeSources(this.#sourcesPath(target), sources, [...before, ...after]);
    if (!(await swapMemoryFile(read, text === "" ? "" : `${text}\n`))) return undefined;
    return contentOf(after, maxChars);
  }

  async #withNew(
    target: MemoryTarget,
    {
      before,
      after,
      heard,
    }: { before: readonly string[]; after: readonly string[]; heard: readonly string[] },
  ): Promise<EntrySources> {
    const known = await readSources(this.#sourcesPath(target));
    const source = { heard, session: this.#options.session, at: Date.now() };
    const added = after.filter((entry) => !before.includes(entry)).map((entry) => [digestOf(entry), source]);
    return { ...known, ...Object.fromEntries(added) };
  }

  #path(target: MemoryTarget): string {
    return join(this.#options.folder, FILES[target]);
  }

  #sourcesPath(target: MemoryTarget): string {
    return join(this.#options.folder, `.${FILES[target]}.sources.json`);
  }
}

function refuseThreats(operations: readonly MemoryOperation[]): void {
  for (const operation of operations) {
    if (operation.action === "remove") continue;
    const threat = threatIn(operation.content);
    if (threat === undefined) continue;
    throw new ToolError(`Memory may not hold ${threat}; nothing was changed.`, {
      code: "blocked",
      hint: "Memory is read into every later conversation. Write down the fact, not the order.",
    });
  }
}
