import { isRecord } from "../../base/record.js";

const MAX_CHARS = 100_000;
const MAX_FRONT_CHARS = 16_384;
const MAX_DESCRIPTION = 1_024;
/** As the format has it, and underscores, which Hermes' own skills use. */
const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** A SKILL.md taken apart. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** Told to whoever asks; it grants nothing. */
  readonly allowedTools: readonly string[];
  readonly requiredVariables: readonly string[];
  /** Every name and every value of the front matter, as it is after YAML has been read: escapes hide nothing in it. */
  readonly fields: readonly string[];
}

export interface Problem {
  readonly problem: string;
}

export function isProblem(read: object): read is Problem {
  return "problem" in read;
}

export function isSkillName(name: string): boolean {
  return NAME.test(name);
}

/** Reads a SKILL.md, or says what is wrong with it; without a folder's name its own one counts. */
export async function readSkillText(text: string, folder?: string): Promise<SkillText | Problem> {
  if (text.length > MAX_CHARS) return { problem: `SKILL.md is longer than ${MAX_CHARS} characters` };
  const front = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (front === undefined)
    return { problem: "SKILL.md does not begin with front matter between two lines of ---" };
  if (front.length > MAX_FRONT_CHARS) return { problem: "the front matter is too long" };
  const fields = await parsed(front);
  if (!isRecord(fields)) return { problem: "the front matter is no YAML with names and values" };
  const { name, description } = fields;
  if (typeof name !== "string" || !isSkillName(name))
    return { problem: "name must be 1 to 64 of a-z, 0-9, - and _" };
  if (folder !== undefined && name !== folder)
    return { problem: `name is ${name}, and the folder ${folder}: they must be the same` };
  if (typeof description !== "string" || description.trim() === "")
    return { problem: "description is missing: it says what the skill is for" };
  if (description.length > MAX_DESCRIPTION)
    return { problem: `description is longer than ${MAX_DESCRIPTION} characters` };
  return {
    name,
    description: description.trim(),
    allowedTools: words(fields["allowed-tools"] ?? fields.allowed_tools),
    requiredVariables: words(
      fields["required-environment-variables"] ?? fields.required_environment_variables,
    ).filter((word) => /^[A-Za-z_]\w*$/.test(word)),
    fields: leaves(fields),
  };
}

async function parsed(front: string): Promise<unknown> {
  const { parse } = await import("yaml");
  for (const text of [front, withQuotedDescription(front)]) {
    try {
      // Aliases make much of little; no skill needs them.
      return parse(text, { maxAliasCount: 0, schema: "core", logLevel: "error" });
    } catch {}
  }
  return undefined;
}

/** Many skills have a colon in a description without quotes, which is no YAML, and everybody knows what is meant. */
function withQuotedDescription(front: string): string {
  return front.replace(
    /^(description:[ \t]+)(\S.*)$/m,
    (_, name: string, text: string) => name + JSON.stringify(text),
  );
}

/** A list, or one text with blanks or commas between the words; Hermes also has objects with a name. */
function words(given: unknown): readonly string[] {
  if (typeof given === "string") return given.split(/[\s,]+/).filter((word) => word !== "");
  if (!Array.isArray(given)) return [];
  return given.flatMap((item: unknown) =>
    typeof item === "string" ? [item] : isRecord(item) && typeof item.name === "string" ? [item.name] : [],
  );
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...leaves(inner)]);
}
