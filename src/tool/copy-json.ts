/** Limits of one call's arguments, whichever way they arrive. */
export const MAX_ARGUMENT_CHARS = 16 * 1024 * 1024;
export const MAX_ARGUMENT_DEPTH = 200;
export const MAX_ARGUMENT_VALUES = 200_000;

export type Copied<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

type Container = Record<string, unknown>;

interface Frame {
  readonly source: Container;
  readonly copy: Container;
  readonly depth: number;
}

export function tooDeep(): string {
  return `the arguments are nested too deep (more than ${MAX_ARGUMENT_DEPTH} levels, or they contain themselves)`;
}

export function tooLarge(size: number): string {
  const shown = size >= 1024 * 1024 ? `${(size / (1024 * 1024)).toFixed(1)} MiB` : `${size} characters`;
  return `the arguments are too large: ${shown}, the limit is ${MAX_ARGUMENT_CHARS / (1024 * 1024)} MiB`;
}

/**
 * A private copy of plain JSON data, so that nobody can change the arguments between the decision and the
 * run; with `inPlace`, only the inspection, for data that is already ours. Walks without recursion: the
 * depth of foreign data must not become the depth of our stack.
 */
export function copyJson(root: object, inPlace = false): Copied<object> {
  const rootProblem = containerProblem(root);
  if (rootProblem !== undefined) return { ok: false, reason: rootProblem };
  const result = inPlace ? (root as Container) : emptyLike(root);
  let frame: Frame = { source: root as Container, copy: result, depth: 1 };
  let pending: Frame[] | undefined;
  let size = 0;
  let values = 0;
  for (;;) {
    const { source, copy, depth } = frame;
    const keys = Array.isArray(source) ? undefined : Object.keys(source);
    const length = keys === undefined ? (source.length as number) : keys.length;
    values += length;
    if (values > MAX_ARGUMENT_VALUES) return { ok: false, reason: tooMany() };
    // Copied key by key: V8 makes later additions (defaults) to a spread object about ten times slower.
    for (let index = 0; index < length; index += 1) {
      // An array takes its index as it is; the type only says what both have in common.
      const key = (keys === undefined ? index : keys[index]) as string;
      if (keys !== undefined) {
        if (key === "__proto__") {
          return { ok: false, reason: 'the key "__proto__" is not allowed in arguments' };
        }
        size += key.length;
      }
      let value = source[key];
      size += 2;
      switch (typeof value) {
        case "string":
          size += value.length;
          break;
        case "boolean":
          break;
        case "number":
          if (!Number.isFinite(value)) return notJson(key, String(value));
          break;
        case "object": {
          if (value === null) break;
          if (depth >= MAX_ARGUMENT_DEPTH) return { ok: false, reason: tooDeep() };
          const problem = containerProblem(value);
          if (problem !== undefined) return { ok: false, reason: problem };
          const inner = inPlace ? (value as Container) : emptyLike(value);
          pending ??= [];
          pending.push({ source: value as Container, copy: inner, depth: depth + 1 });
          value = inner;
          break;
        }
        case "undefined":
          // In an object it means "not given", as JSON.stringify has it; a list cannot leave a place out.
          if (keys === undefined) return notJson(key, "undefined");
          continue;
        default:
          return notJson(key, `a ${typeof value}`);
      }
      if (!inPlace) copy[key] = value;
    }
    if (size > MAX_ARGUMENT_CHARS) return { ok: false, reason: tooLarge(size) };
    const next = pending?.pop();
    if (next === undefined) return { ok: true, value: result };
    frame = next;
  }
}

export function tooMany(): string {
  return `the arguments are too large: more than ${MAX_ARGUMENT_VALUES.toLocaleString("en-US")} values`;
}

function emptyLike(source: object): Container {
  return (Array.isArray(source) ? [] : {}) as Container;
}

function notJson(key: string, what: string): { ok: false; reason: string } {
  return {
    ok: false,
    reason: `the arguments must be JSON data, but "${String(key).slice(0, 80)}" is ${what}`,
  };
}

function containerProblem(source: object): string | undefined {
  if (Array.isArray(source)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype === Object.prototype || prototype === null) return undefined;
  // Objects of another realm (vm contexts, workers) have their own Object.prototype, one step from null.
  if (Object.getPrototypeOf(prototype) === null && !hasBehaviour(source)) return undefined;
  return `the arguments must be JSON data, but they contain ${kindOf(source)}`;
}

function hasBehaviour(source: object): boolean {
  return Object.prototype.toString.call(source) !== "[object Object]";
}

function kindOf(source: object): string {
  const name: unknown = source.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name.slice(0, 60)}` : "an object with behaviour";
}
