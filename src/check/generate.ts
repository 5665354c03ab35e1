import type { JsonSchema } from "../tool/json-schema.js";

const WORDS = [
  "a",
  "",
  "hello",
  "0",
  "-1",
  "true",
  "null",
  "ünïcödé ✓",
  "a/b/../c",
  "line\nbreak",
  "'; --",
  "\u0000",
  "x".repeat(300),
] as const;
const DEEPEST = 6;

/** A value a schema describes, as far as the keywords used in tool schemas say; validation has the last word. */
export function valueFor(schema: unknown, random: Random, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > DEEPEST)
    return random.pick<unknown>(["x", 1, true, null]);
  const rules = schema as JsonSchema;
  if ("const" in rules) return rules.const;
  if (Array.isArray(rules.enum) && rules.enum.length > 0)
    return random.pick(rules.enum as [unknown, ...unknown[]]);
  const options = rules.anyOf ?? rules.oneOf;
  if (Array.isArray(options) && options.length > 0)
    return valueFor(random.pick(options as [unknown, ...unknown[]]), random, depth + 1);
  const type = Array.isArray(rules.type) ? random.pick(rules.type as [unknown, ...unknown[]]) : rules.type;
  switch (type) {
    case "string":
      return textFor(rules, random);
    case "integer":
      return Math.trunc(numberFor(rules, random));
    case "number":
      return numberFor(rules, random);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from({ length: random.int(bound(rules.minItems, 0), bound(rules.minItems, 0) + 3) }, () =>
        valueFor(rules.items, random, depth + 1),
      );
    default:
      return objectFor(rules, random, depth);
  }
}

function objectFor(rules: JsonSchema, random: Random, depth: number): Record<string, unknown> {
  const properties =
    typeof rules.properties === "object" && rules.properties !== null ? Object.entries(rules.properties) : [];
  const required = new Set(Array.isArray(rules.required) ? rules.required : []);
  const made: [string, unknown][] = [];
  for (const [name, schema] of properties) {
    if (required.has(name) || random.chance(0.5)) made.push([name, valueFor(schema, random, depth + 1)]);
  }
  return Object.fromEntries(made);
}

function textFor(rules: JsonSchema, random: Random): string {
  const shortest = bound(rules.minLength, 0);
  const longest = bound(rules.maxLength, 1_000);
  let text: string = rules.format === "uri" ? "http://localhost:9/" : random.pick(WORDS);
  while (text.length < shortest) text += "x";
  return text.slice(0, Math.max(longest, 0));
}

function numberFor(rules: JsonSchema, random: Random): number {
  const low = bound(rules.minimum ?? rules.exclusiveMinimum, -5);
  const high = bound(rules.maximum ?? rules.exclusiveMaximum, low + 10);
  return random.chance(0.3) ? random.pick([low, high] as const) : low + random.next() * (high - low);
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

/** Arguments as models get them wrong, and as nobody should ever send them. */
export function badArguments(good: Readonly<Record<string, unknown>>, random: Random): unknown {
  const name = Object.keys(good)[0] ?? "x";
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  return random.pick<unknown>([
    null,
    [],
    "not json",
    '{"cut off',
    42,
    {},
    { ...good, [name]: null },
    { ...good, [name]: { deep: { er: [] } } },
    { ...good, [name]: "x".repeat(1_000_000) },
    { ...good, [name]: Number.MAX_SAFE_INTEGER },
    { ...good, unexpected_key: true },
    `{"__proto__":{"polluted":true},"constructor":1}`,
    `{"${name}":${nested(300)}}`,
    JSON.stringify(good).slice(0, -1),
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index])),
  ]);
}

/** A small seeded generator (mulberry32), so that a failing check can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer in [low, high]. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.int(0, items.length - 1)] ?? items[0];
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
