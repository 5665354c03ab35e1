import { canonicalJson } from "../../base/canonical-json.js";
import { isRecord } from "../../base/record.js";
import { cleanLine } from "./clean-text.js";
import type { Definition } from "./definition.js";

const LONGEST_EXCERPT = 240;
const LONGEST_DIFF = 1_200;
/** Words before the first difference, so that a person sees where they are. */
const LEAD = 40;

/** What has changed between two definitions, in a few lines a person can read; all text in it is cleaned. */
export function describeChange(before: Definition, after: Definition): string {
  const lines = [
    ...textChange("title", before.title, after.title),
    ...textChange("description", before.description, after.description),
    ...parameterChanges(before.inputSchema, after.inputSchema),
    ...plainChange("output", before.outputSchema, after.outputSchema),
    ...hintChanges(before.annotations, after.annotations),
  ];
  const text = lines.length === 0 ? "the order or spelling of its schema" : lines.join("; ");
  return text.length <= LONGEST_DIFF ? text : `${text.slice(0, LONGEST_DIFF)} …`;
}

function textChange(what: string, before: unknown, after: unknown): readonly string[] {
  const [old, now] = [asText(before), asText(after)];
  if (old === now) return [];
  if (old === "") return [`${what} added: “${excerpt(now)}”`];
  if (now === "") return [`${what} removed: “${excerpt(old)}”`];
  let same = 0;
  while (same < old.length && old[same] === now[same]) same += 1;
  const from = Math.max(0, same - LEAD);
  const lead = from > 0 ? "…" : "";
  return [`${what}: “${lead}${excerpt(old.slice(from))}” → “${lead}${excerpt(now.slice(from))}”`];
}

function parameterChanges(before: unknown, after: unknown): readonly string[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const added = Object.keys(now).filter((name) => !Object.hasOwn(old, name));
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(now, name));
  const changed = Object.keys(now).filter(
    (name) => Object.hasOwn(old, name) && canonicalJson(old[name]) !== canonicalJson(now[name]),
  );
  const lines = [
    ...named("new parameters", added),
    ...named("parameters gone", removed),
    ...changed
      .slice(0, 5)
      .map((name) => `parameter ${cleanLine(name, 60)}: ${partChange(old[name], now[name])}`),
    ...named("also changed", changed.slice(5)),
  ];
  return lines.length === 0 ? ["other parts of its parameters"] : lines;
}

function partChange(before: unknown, after: unknown): string {
  const [old, now] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  const [text] = textChange("text", old.description, now.description);
  return text ?? `${excerpt(canonicalJson(before))} → ${excerpt(canonicalJson(after))}`;
}

function hintChanges(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names
    .filter((name) => canonicalJson(old[name]) !== canonicalJson(now[name]))
    .slice(0, 6)
    .map(
      (name) => `hint ${cleanLine(name, 40)}: ${excerpt(asText(old[name]))} → ${excerpt(asText(now[name]))}`,
    );
}

function plainChange(what: string, before: unknown, after: unknown): readonly string[] {
  return canonicalJson(before) === canonicalJson(after) ? [] : [`its ${what} has another form`];
}

function named(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, 8).map((name) => cleanLine(name, 60));
  return [`${what}: ${shown.join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`];
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : canonicalJson(value);
}

/** How much is not shown is told: whoever agrees should know that there is more. */
function excerpt(text: string): string {
  if (text === "") return "nothing";
  const shown = cleanLine(text.slice(0, 4 * LONGEST_EXCERPT), LONGEST_EXCERPT);
  const hidden = text.length - LONGEST_EXCERPT;
  return hidden > 0 ? `${shown} (${hidden} more characters)` : shown;
}
