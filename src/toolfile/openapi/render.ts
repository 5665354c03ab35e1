import type { Fields } from "./references.js";

/** Beyond this the file is written as JSON, which is YAML too, a hundred times faster to read. */
const LONGEST_YAML = 100_000;

/** The text of a tool file. */
export async function renderToolFile(file: Fields): Promise<string> {
  const json = `${JSON.stringify(file, null, 1)}\n`;
  // YAML of the same content is a little shorter than indented JSON.
  if (json.length > LONGEST_YAML * 1.3) return json;
  const { stringify } = await import("yaml");
  const text = stringify(file, { lineWidth: 110, aliasDuplicateObjects: false });
  return `# Made by \`hermes tools import openapi\`. It may be edited; importing again replaces it.\n${text}`;
}
