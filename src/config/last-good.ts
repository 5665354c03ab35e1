import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../base/atomic-write.js";
import type { TextDamage } from "./damaged-text.js";
import type { ConfigProblem, ConfigSource } from "./types.js";

/** Remembers the last version of each config file that could be read, one copy per file. */
export class LastGoodStore {
  readonly #folder: string;
  readonly #home: string;

  constructor(options: { readonly home: string; readonly folder: string }) {
    this.#home = options.home;
    this.#folder = options.folder;
  }

  async read(file: string): Promise<string | undefined> {
    try {
      return readFileSync(await this.#copyOf(file), "utf8");
    } catch {
      return undefined;
    }
  }

  get home(): string {
    return this.#home;
  }

  /** Where the longer version of a file that has become shorter stays, and what a person is told about it. */
  async keepFormer(change: {
    readonly source: ConfigSource;
    readonly path: string;
    readonly damage: TextDamage;
  }): Promise<ConfigProblem> {
    const { source, path, damage } = change;
    const copy = await this.#copyOf(path);
    const kept = `${copy}.before`;
    const text = await this.read(path);
    const isKept =
      text !== undefined &&
      (await replaceFile({ path: kept, data: text, mode: 0o600 }).then(
        () => true,
        () => false,
      ));
    return {
      severity: "warning",
      source,
      message: damage.message,
      hint: `if you took them out, all is well${isKept ? `; the former version is ${kept}` : ""}`,
      file: path,
      line: damage.line,
    };
  }

  /** Best effort: a read-only home must not keep a good config from being used. */
  async save(file: string, text: string): Promise<void> {
    // Merely reading settings must not create a home for somebody who has none.
    if (!existsSync(this.#home) || (await this.read(file)) === text) return;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const copy = await this.#copyOf(file);
      await replaceFile({ path: copy, data: text, mode: 0o600 });
    } catch {
      // Without a copy the next broken file falls back to strict defaults, which is safe.
    }
  }

  async #copyOf(file: string): Promise<string> {
    const { sha256 } = await import("../base/hash.js");
    return join(this.#folder, `${sha256(file)}.yaml`);
  }
}
