import { join, relative } from "node:path/posix";
import type { Ignore } from "ignore";
import type { CallContext } from "../../../tool/tool.js";

const MAX_RULE_BYTES = 1024 * 1024;

interface FolderRules {
  readonly folder: string;
  readonly rules: Ignore;
}

/** What the .gitignore files above and in a folder say of its entries; the nearest one decides. */
export class IgnoreRules {
  readonly #chain: readonly FolderRules[];

  constructor(chain: readonly FolderRules[] = []) {
    this.#chain = chain;
  }

  ignores(path: string, isFolder: boolean): boolean {
    for (const { folder, rules } of this.#chain) {
      const verdict = rules.test(`${relative(folder, path)}${isFolder ? "/" : ""}`);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }

  /** These rules and those of a file in `folder`; the same when there is no such file. */
  async with(folder: string, file: string, ctx: CallContext): Promise<IgnoreRules> {
    const text = await readRules(join(folder, file), ctx);
    if (text === undefined) return this;
    const { default: ignore } = await import("ignore");
    return new IgnoreRules([{ folder, rules: ignore().add(text) }, ...this.#chain]);
  }
}

/** Rules that cannot be read ignore nothing: a list that shows too much is better than none. */
async function readRules(path: string, ctx: CallContext): Promise<string | undefined> {
  try {
    const bytes = await ctx.environment.files.read(path, { start: 0, end: MAX_RULE_BYTES });
    return Buffer.from(bytes).toString("utf8");
  } catch {
    return undefined;
  }
}
