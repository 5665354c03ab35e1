import { searchable } from "../search/catalogue.js";
import { failure, HermesError } from "../tool/errors.js";
import { compactSignature } from "../tool/typescript-declarations.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

const SIGNATURE_CHARS = 600;

/** Finds tools by what they do, among all that are switched on. */
export async function run(
  { out, runtime: open }: CommandContext,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const limit = readLimit(String(options.limit));
  const runtime = await open();
  const on = (await runtime.listTools()).filter((tool) => tool.enabled);
  const entries = on.flatMap((tool) => runtime.registry.get(tool.name) ?? []);
  const finder = await runtime.finderFor(entries.map(searchable));
  const hits = await finder.search(words.join(" "), { limit });
  const found = hits.flatMap(({ index, score }) => {
    const entry = entries[index];
    return entry === undefined ? [] : [{ entry, score }];
  });
  if (out.json) {
    out.values(
      found.map(({ entry, score }) => ({
        name: entry.name,
        toolset: entry.toolset,
        description: entry.description,
        signature: compactSignature(entry, SIGNATURE_CHARS),
        score,
      })),
    );
  } else {
    const rows = found.map(({ entry }) => [
      `${out.emoji(entry.emoji)}${entry.name}`,
      out.color.dim(entry.toolset),
      brief(entry.description),
    ]);
    for (const line of table(rows)) out.line(line);
    if (found.length === 0) out.line(`nothing found among ${entries.length} tools`);
  }
  await runtime.close();
}

function readLimit(given: string): number {
  const limit = Number(given);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new HermesError(
    failure("bad_request", `--limit ${given} is not a whole number above 0`, "For example: --limit 20"),
  );
}
