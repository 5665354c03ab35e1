import { isRecord } from "../base/record.js";
import { inSlices } from "../base/slices.js";
import type { SearchableTool } from "./types.js";

/** What a tool is for stands at the beginning; what follows blurs its vector and costs time. */
const WANTED_LENGTH = 200;
const LONGEST_LENGTH = 300;
/** In characters; the model reads less than this. */
const LONGEST_PARAMETERS = 600;
/** A sentence that more tools share says nothing about any of them. */
const MOST_SHARERS = 2;
const CODE = /```[\s\S]*?(?:```|$)/g;
const ADDRESSES = /https?:\/\/\S+/g;
const MARKS = /[*#`>|]+|\p{Extended_Pictographic}|\uFE0F/gu;
const ENDS = /(?<=[.!?])\s+|\n+|\s-\s|(?<=:)\s+(?=\d\.)/;
const LIST_SIGN = /^\s*(?:\d+\.|[-•])\s*/;

/**
 * For each tool the text its vector is made of: what tells it from the others of this list. Names come without the
 * words that most of them share, descriptions as their first sentences, without mark-up and without what is repeated
 * from tool to tool.
 */
export async function toolTexts(tools: readonly SearchableTool[]): Promise<readonly ToolTexts[]> {
  const sentences: (readonly string[])[] = [];
  const names: (readonly string[])[] = [];
  const sharers = new Map<string, number>();
  const nameSharers = new Map<string, number>();
  await inSlices(tools, ({ name, description }) => {
    const said = sentencesOf(description);
    const words = wordsOf(name);
    sentences.push(said);
    names.push(words);
    count(sharers, said);
    count(nameSharers, words);
  });
  const texts: ToolTexts[] = [];
  await inSlices(tools, ({ parameters }, index) => {
    const name = ownName(names[index] ?? [], (word) => (nameSharers.get(word) ?? 0) > tools.length / 2);
    const all = sentences[index] ?? [];
    const own = all.filter((sentence) => (sharers.get(sentence.toLowerCase()) ?? 0) <= MOST_SHARERS);
    const purpose = firstOf(own.length > 0 ? own : all);
    texts.push([`${name}:`, purpose === "" ? name : purpose, parametersText(parameters)]);
  });
  return texts;
}

/** Name, purpose and parameters. */
export type ToolTexts = readonly [name: string, purpose: string, parameters: string];

function parametersText({ properties }: SearchableTool["parameters"]): string {
  if (!isRecord(properties)) return "";
  return Object.entries(properties)
    .map(([name, schema]) => {
      const about = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
      return `${wordsOf(name).join(" ")}${about === "" ? "" : `: ${about}`}`;
    })
    .join(". ")
    .slice(0, LONGEST_PARAMETERS);
}

function sentencesOf(description: string): readonly string[] {
  const plain = description.replace(CODE, " ").replace(ADDRESSES, " ").replace(MARKS, " ");
  return plain
    .split(ENDS)
    .map((sentence) => sentence.replace(LIST_SIGN, "").replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

function firstOf(sentences: readonly string[]): string {
  let text = "";
  for (const sentence of sentences) {
    if (text !== "" && text.length + sentence.length > WANTED_LENGTH) break;
    text += `${sentence} `;
  }
  return text.slice(0, LONGEST_LENGTH).trim();
}

/** `getUserByID`, `get_user_by_id` → words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[\s_\-./:]+/)
    .filter((word) => word !== "");
}

/** `mcp_slack_slack_post_message` → `slack post message`, where most names begin with `mcp`. */
function ownName(words: readonly string[], isShared: (word: string) => boolean): string {
  const own: string[] = [];
  for (const word of words)
    if (!isShared(word.toLowerCase()) && own.at(-1)?.toLowerCase() !== word.toLowerCase()) own.push(word);
  return (own.length > 0 ? own : words).join(" ");
}

function count(counts: Map<string, number>, items: readonly string[]): void {
  for (const item of new Set(items.map((one) => one.toLowerCase())))
    counts.set(item, (counts.get(item) ?? 0) + 1);
}
