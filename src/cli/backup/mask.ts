import { readFile, stat, writeFile } from "node:fs/promises";
import type { SecretRegistry } from "../../policy/secrets.js";

/** A longer file is not one that people write settings or notes into. */
const LONGEST = 4 * 1024 * 1024;

/** Masks the secrets that stand in a file; whether there were any. */
export async function maskFile(path: string, known: SecretRegistry): Promise<boolean> {
  if ((await stat(path)).size > LONGEST) return false;
  const bytes = await readFile(path);
  const text = bytes.toString("utf8");
  // Not text: it would not come back as it was.
  if (!Buffer.from(text).equals(bytes)) return false;
  if (known.redact(text) === text) return false;
  const quoted = /\.ya?ml$/.test(path) ? await withQuotedMasks(text, known) : text;
  await writeFile(path, known.redact(quoted));
  return true;
}

/** A mask begins with a bracket: where no quotes are around it, YAML would read a list. */
async function withQuotedMasks(text: string, known: SecretRegistry): Promise<string> {
  const { parseAllDocuments, visit } = await import("yaml");
  const documents = [...parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false })];
  // What is no YAML now is none afterwards.
  if (documents.some(({ errors }) => errors.length > 0)) return text;
  const masks: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  for (const document of documents) {
    visit(document, {
      Scalar(_key, { type, source, range }) {
        if (type !== "PLAIN" || source === undefined || !range) return;
        const masked = known.redact(source);
        if (masked !== source) masks.push({ from: range[0], to: range[1], text: JSON.stringify(masked) });
      },
    });
  }
  let quoted = text;
  for (const mask of masks.sort((one, other) => other.from - one.from))
    quoted = quoted.slice(0, mask.from) + mask.text + quoted.slice(mask.to);
  return quoted;
}
