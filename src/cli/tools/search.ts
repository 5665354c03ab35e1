import { searchable } from "../../search/catalogue.js";
import { whyFound } from "../../search/types.js";
import { compactSignature } from "../../tool/typescript-declarations.js";
import { type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { brief } from "../output.js";

const SIGNATURE_CHARS = 600;

/** Finds tools by what they do, among all that are switched on. */
export async function search(context: CommandContext): Promise<void> {
  const { out, args: words, options, flags } = context;
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1) {
    const message = `--limit ${options.limit} is not a whole number above 0`;
    throw commandError("bad_request", message, "For example: --limit 20");
  }
  await withRuntime(context, async (runtime) => {
    const on = (await runtime.listTools()).filter((tool) => tool.enabled);
    const entries = on.flatMap((tool) => runtime.registry.get(tool.name) ?? []);
    const finder = await runtime.finderFor(entries.map(searchable));
    const hits = await finder.search(words.join(" "), { limit });
    out.list({
      rows: hits.flatMap(({ index, score, marks }) => {
        const entry = entries[index];
        return entry === undefined ? [] : [{ entry, score, marks }];
      }),
      asJson: ({ entry, score, marks }) => ({
        name: entry.name,
        toolset: entry.toolset,
        description: entry.description,
        signature: compactSignature(entry, SIGNATURE_CHARS),
        score,
        marks,
      }),
      cells: ({ entry, marks }) => [
        `${out.emoji(entry.emoji)}${entry.name}`,
        out.color.dim(entry.toolset),
        ...(flags.verbose === true ? [whyFound(marks)] : []),
        brief(entry.description),
      ],
      empty: `nothing found among ${entries.length} tools`,
    });
  });
}
