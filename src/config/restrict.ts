import { type ConfigKey, EVERYTHING } from "./schema.js";

/** The stricter of two values of one key, and whether the newcomer asked for something looser. */
export function restrict(
  key: ConfigKey,
  current: unknown,
  next: unknown,
): { readonly value: unknown; readonly loosens: boolean } {
  const rule = key.project;
  if (rule === "free") return { value: next, loosens: false };
  if (rule === "never") return { value: current, loosens: true };
  if (rule === "unite") return { value: union(current, next), loosens: false };
  if (rule === "lower") {
    const loosens = Number(next) > Number(current);
    return { value: loosens ? current : next, loosens };
  }
  if (rule === "narrow") return narrow(asList(current), asList(next));
  if (rule === "subset") return restrictList(key, asList(current), asList(next));
  const steps: readonly unknown[] = rule.looseToStrict;
  const strictness = (value: unknown) => steps.indexOf(value);
  const loosens = strictness(next) < strictness(current);
  return { value: loosens ? current : next, loosens };
}

function restrictList(key: ConfigKey, current: readonly string[], next: readonly string[]) {
  const everything = (names: readonly string[]) =>
    key.path === "toolsets" && names.some((name) => EVERYTHING.includes(name));
  if (everything(next)) return { value: current, loosens: !everything(current) };
  if (everything(current)) return { value: next, loosens: false };
  const known = new Set(current.map(spelled));
  const kept = next.filter((name) => known.has(spelled(name)));
  return { value: kept, loosens: kept.length < next.length };
}

/** Entries of `command_allowlist` may be objects. */
function spelled(entry: unknown): string {
  return typeof entry === "string" ? entry : JSON.stringify(entry);
}

/** An empty list is no limit, so it must never come out of two lists that share nothing. */
function narrow(current: readonly string[], next: readonly string[]) {
  if (current.length === 0) return { value: next, loosens: false };
  const kept = next.filter((name) => current.includes(name));
  return {
    value: kept.length === 0 ? current : kept,
    loosens: kept.length < next.length || next.length === 0,
  };
}

/** What stands in for a rule that was written but cannot be read. */
export function strictest(key: ConfigKey): unknown {
  return typeof key.project === "object" ? key.project.looseToStrict.at(-1) : key.default;
}

/** For messages: what a project file may do with a key. */
export function allowedDirection(key: ConfigKey): string {
  if (key.project === "never") return "may not set it";
  if (key.project === "lower") return "may only lower it";
  if (key.project === "subset" || key.project === "narrow") return "may only shorten this list";
  if (typeof key.project !== "object") return "may set it";
  return `may only move it towards ${key.project.looseToStrict.at(-1)}`;
}

export function union(a: unknown, b: unknown): string[] {
  return [...new Set([...asList(a), ...asList(b)])];
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value : [];
}
