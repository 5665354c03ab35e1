import { readFileSync } from "node:fs";
import { isRecord } from "../../base/record.js";
import { didYouMean } from "../../config/did-you-mean.js";
import { inOurSpelling } from "../../registry/registration-fields.js";
import { PlacedError } from "../../registry/user-module-errors.js";
import { isBaseToolClass, isBaseToolInstance, toolFromBase } from "../../tool/base-tool.js";
import { decoratedTools, toolsOf, type UnreadTool } from "../../tool/decorator.js";
import type { AnyTool } from "../../tool/tool.js";
import { TOOL_FIELDS } from "../../tool/tool-fields.js";
import { readSignature } from "./read-signature.js";

/** The same, or an error with the line of a field that keeps a tool from being one. */
export function registrableTools(
  module: Readonly<Record<string, unknown>>,
  file: string,
): readonly AnyTool[] {
  for (const value of Object.values(module)) {
    const mistake = mistakeIn(value);
    if (mistake !== undefined) throw new PlacedError(mistake.message, lineOf(mistake.where, file));
  }
  return toolsOfModule(module, (unread) => unread.made(readSignature(unread, file)));
}

interface Mistake {
  readonly message: string;
  /** Where to look for it in the file. */
  readonly where: RegExp;
}

/** Exported objects that were meant as tools, with a field that is missing or mistyped. */
function mistakeIn(value: unknown): Mistake | undefined {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  if (!("parameters" in value && "permissions" in value && "toolset" in value)) return undefined;
  for (const field of Object.keys(value)) {
    const meant = TOOL_FIELDS.has(field) ? undefined : didYouMean(field, TOOL_FIELDS);
    if (meant === undefined) continue;
    return {
      message: `"${field}" is no field of a tool; ${meant}`,
      where: new RegExp(`\\b${field}\\s*[:(,]`),
    };
  }
  const missing = ["name", "handler"].find((field) => value[field] === undefined);
  if (missing === undefined) return undefined;
  const named = typeof value.name === "string" ? `the tool ${value.name}` : "a tool";
  return { message: `${named} has no ${missing}`, where: /\bdefineTools?\s*\(/ };
}

function lineOf(where: RegExp, file: string): number | undefined {
  try {
    const index = readFileSync(file, "utf8")
      .split("\n")
      .findIndex((line) => where.test(line));
    return index === -1 ? undefined : index + 1;
  } catch {
    return undefined;
  }
}

/** What a module exports: tool values, BaseTool classes, classes with `@tool` methods. */
export function toolsOfModule(
  module: Readonly<Record<string, unknown>>,
  read?: ReadSignature,
): readonly AnyTool[] {
  const tools: AnyTool[] = [];
  const seen = new Set<unknown>();
  for (const value of Object.values(module)) {
    if (seen.has(value)) continue;
    seen.add(value);
    tools.push(...toolsOfValue(value, read));
  }
  return tools;
}

/** Makes a tool of a decorated method that gives no parameters. */
type ReadSignature = (unread: UnreadTool) => AnyTool;

export function toolsOfValue(value: unknown, read?: ReadSignature): readonly AnyTool[] {
  if (isTool(value)) return [value];
  if (isBaseToolClass(value)) return [toolFromBase(new value())];
  if (isBaseToolInstance(value)) return [toolFromBase(value)];
  if (Array.isArray(value)) return value.flatMap((item) => toolsOfValue(item, read));
  const decorated = (owner: object) =>
    (read === undefined ? toolsOf(owner) : decoratedTools(owner, read)).map((tool) => inOurSpelling(tool));
  if (typeof value === "function") {
    const instance = instanceOf(value);
    return [...decorated(value), ...(instance === undefined ? [] : decorated(instance))];
  }
  return typeof value === "object" && value !== null ? decorated(value) : [];
}

/** Instance methods carry `@tool` only once an instance exists; a class that needs arguments makes its own. */
function instanceOf(value: object & { readonly length?: unknown }): object | undefined {
  const isClass = typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
  return isClass && value.length === 0 ? (Reflect.construct(value, []) as object) : undefined;
}

function isTool(value: unknown): value is AnyTool {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "handler" in value &&
    typeof value.handler === "function" &&
    "parameters" in value
  );
}
