import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { CallContext } from "../../tool/tool.js";
import { cleanLine, cleanText } from "./clean-text.js";

type Ask = CallContext["ask"];
type Value = string | number | boolean | string[];

interface Form {
  readonly server: string;
  readonly message: string;
  readonly ask: Ask;
}

const DECLINED: ElicitResult = { action: "decline" };
const DECLINE = "decline";
const MOST_FIELDS = 20;
const MOST_CHOICES = 50;
const TRIES = 2;

/** Puts what a server wants to know to the person, field by field. Silence is a no. */
export async function answerElicitation(
  params: ElicitRequest["params"],
  asked: { readonly server: string; readonly ask: Ask },
): Promise<ElicitResult> {
  const form: Form = { ...asked, message: cleanText(params.message, 1_000) };
  if (params.mode === "url") return showAddress(params.url, form);
  const { properties, required } = params.requestedSchema;
  const fields = Object.entries(properties);
  if (fields.length > MOST_FIELDS) return DECLINED;
  if (fields.length === 0) return confirm(form);
  const content: Record<string, Value> = {};
  for (const [name, field] of fields) {
    const answer = await askField({ form, name, field, isRequired: required?.includes(name) === true });
    if (answer === DECLINED) return DECLINED;
    if (answer !== undefined) content[name] = answer as Value;
  }
  return { action: "accept", content };
}

/** The address is shown and never opened from here; only a web address is shown at all. */
async function showAddress(address: unknown, { server, message, ask }: Form): Promise<ElicitResult> {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return DECLINED;
  const answer = await ask({
    question: `MCP server ${server} asks you to open an address yourself: ${url.href}\n${message}`,
    choices: ["done", DECLINE],
  });
  return answer === "done" ? { action: "accept" } : DECLINED;
}

async function confirm({ server, message, ask }: Form): Promise<ElicitResult> {
  const answer = await ask({
    question: `MCP server ${server} asks: ${message}`,
    choices: ["accept", DECLINE],
  });
  return answer === "accept" ? { action: "accept", content: {} } : DECLINED;
}

interface Field {
  readonly form: Form;
  readonly name: string;
  readonly field: unknown;
  readonly isRequired: boolean;
}

/** The value, undefined for a field that is left out, or DECLINED. */
async function askField(asking: Field): Promise<Value | undefined | typeof DECLINED> {
  const { form, isRequired } = asking;
  const field = isRecord(asking.field) ? asking.field : {};
  const choices = choicesOf(field);
  for (let attempt = 0, trouble = ""; attempt < TRIES; attempt++) {
    const answer = await form.ask({
      question: questionFor(asking, field) + trouble,
      ...(choices !== undefined && { choices: [...choices.map(({ shown }) => shown), DECLINE] }),
    });
    if (answer === undefined || answer.trim() === DECLINE) return DECLINED;
    if (answer.trim() === "") return isRequired ? DECLINED : (field.default as Value | undefined);
    const chosen = choices?.find(
      ({ shown, value }) => shown === answer.trim() || String(value) === answer.trim(),
    );
    if (choices !== undefined && chosen !== undefined) return chosen.value;
    const read = choices === undefined ? readValue(field, answer) : undefined;
    if (read !== undefined) return read;
    trouble = "\n(That answer does not fit. Please try again.)";
  }
  return DECLINED;
}

function questionFor({ form, name, isRequired }: Field, field: Readonly<Record<string, unknown>>): string {
  const label = cleanLine(typeof field.title === "string" ? field.title : name, 100);
  const about = typeof field.description === "string" ? ` (${cleanLine(field.description, 300)})` : "";
  const many = field.type === "array" ? " Several, separated by commas." : "";
  const empty = isRequired ? "Leave it empty to decline." : `Leave it empty ${ofDefault(field.default)}.`;
  return `MCP server ${form.server} asks: ${form.message}\n${label}${about}.${many} ${empty}`;
}

/** What an empty answer sends is the server's choice; nobody should send it unseen. */
function ofDefault(value: unknown): string {
  return value === undefined ? "to skip" : `for ${cleanLine(JSON.stringify(value), 100)}`;
}

interface Choice {
  readonly shown: string;
  readonly value: Value;
}

function choicesOf(field: Readonly<Record<string, unknown>>): readonly Choice[] | undefined {
  if (field.type === "boolean")
    return [
      { shown: "yes", value: true },
      { shown: "no", value: false },
    ];
  if (field.type === "array") return undefined;
  return options(field);
}

/** The allowed values of a field, in any of the ways the protocol has for them. */
function options(field: Readonly<Record<string, unknown>>): readonly Choice[] | undefined {
  const titled = [field.oneOf, field.anyOf].find(Array.isArray) as readonly unknown[] | undefined;
  const pairs: readonly (readonly [unknown, unknown])[] | undefined =
    titled?.map((one) =>
      isRecord(one) ? ([one.const, one.title ?? one.const] as const) : [undefined, undefined],
    ) ??
    (Array.isArray(field.enum)
      ? field.enum.map(
          (value, at) => [value, Array.isArray(field.enumNames) ? field.enumNames[at] : value] as const,
        )
      : undefined);
  const choices = pairs
    ?.filter(([value]) => typeof value === "string")
    .map(([value, title]) => ({ shown: cleanLine(title ?? value, 100), value: value as string }));
  return choices === undefined || choices.length === 0 || choices.length > MOST_CHOICES ? undefined : choices;
}

function readValue(field: Readonly<Record<string, unknown>>, answer: string): Value | undefined {
  if (field.type === "number" || field.type === "integer") return readNumber(field, answer);
  if (field.type === "array") {
    const allowed = isRecord(field.items) ? options(field.items) : undefined;
    const given = answer
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    const values = given.map(
      (part) => allowed?.find(({ shown, value }) => shown === part || value === part)?.value,
    );
    if (allowed === undefined) return given;
    return values.every((value) => typeof value === "string") ? (values as string[]) : undefined;
  }
  const length = [...answer].length;
  if (typeof field.minLength === "number" && length < field.minLength) return undefined;
  if (typeof field.maxLength === "number" && length > field.maxLength) return undefined;
  return answer;
}

function readNumber(field: Readonly<Record<string, unknown>>, answer: string): number | undefined {
  const value = Number(answer.trim());
  if (!Number.isFinite(value) || (field.type === "integer" && !Number.isInteger(value))) return undefined;
  if (typeof field.minimum === "number" && value < field.minimum) return undefined;
  if (typeof field.maximum === "number" && value > field.maximum) return undefined;
  return value;
}
