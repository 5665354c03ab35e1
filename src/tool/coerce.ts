import { isRecord } from "../base/record.js";
import { convertTo, matchesType, typesOf } from "./convert-value.js";
import { preview, readablePath } from "./preview.js";
import { followRefs, type SchemaObject } from "./schema-walk.js";
import type { Issue } from "./validate.js";

export interface Coerced {
  readonly value: unknown;
  readonly repairs: readonly string[];
}

/** Bounds work on schemas whose alternatives multiply; what is left over simply stays unrepaired. */
const MAX_STEPS = 50_000;
const MAX_REPORTED = 20;
/** The validator stops listing there; a full list says nothing about the places it does not name. */
const ISSUE_CAPACITY = 8;

/**
 * Repairs the places that an issue names, in the direction the schema points to, and leaves everything else
 * alone. Anything unclear stays as it is: the second validation then says what is wrong with it.
 */
export function coerce(input: {
  readonly schema: unknown;
  readonly value: unknown;
  readonly issues: readonly Issue[];
}): Coerced {
  const run = new Coercion(input.schema, input.issues);
  const value = run.visit(input.schema, { value: input.value, path: [], fresh: false });
  const extra = run.repairs.length - MAX_REPORTED;
  const repairs = extra > 0 ? [...run.repairs.slice(0, MAX_REPORTED), `… and ${extra} more`] : run.repairs;
  return { value, repairs };
}

interface Place {
  readonly value: unknown;
  readonly path: readonly string[];
  /** Below something that was itself just converted, where the list of issues knows nothing. */
  readonly fresh: boolean;
}

class Coercion {
  readonly repairs: string[] = [];
  readonly #root: unknown;
  /** Pointers of failing places and of everything above them; undefined = the whole value is suspect. */
  readonly #failing: ReadonlySet<string> | undefined;
  #steps = 0;

  constructor(root: unknown, issues: readonly Issue[]) {
    this.#root = root;
    this.#failing = issues.length >= ISSUE_CAPACITY ? undefined : withAncestors(issues);
  }

  visit(schema: unknown, place: Place): unknown {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS || !isRecord(schema) || !this.#isSuspect(place)) return place.value;
    let { value, fresh } = place;
    const { path } = place;
    if (typeof schema.$ref === "string") {
      value = this.visit(followRefs(this.#root, schema), { value, path, fresh });
    }
    for (const part of listOf(schema.allOf)) value = this.visit(part, { value, path, fresh });
    const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
    if (alternatives.length > 0) value = this.#chooseAlternative(alternatives, { value, path, fresh });
    const types = typesOf(schema);
    if (types !== undefined && !types.some((type) => matchesType(type, value))) {
      const converted = convertTo(types, value);
      if (converted !== undefined) {
        this.repairs.push(`${readablePath(path)}: ${preview(value)} → ${preview(converted.value)}`);
        value = converted.value;
        fresh = true;
      }
    }
    if (Array.isArray(value)) return this.#visitItems(schema, { value, path, fresh });
    if (isRecord(value)) return this.#visitProperties(schema, { value, path, fresh });
    return value;
  }

  #isSuspect(place: Place): boolean {
    return place.fresh || this.#failing === undefined || this.#failing.has(pointer(place.path));
  }

  /** The first alternative that the value already resembles wins; otherwise the first it can be turned into. */
  #chooseAlternative(alternatives: readonly unknown[], place: Place): unknown {
    const similar = alternatives.filter((alternative) => this.#resembles(alternative, place.value));
    for (const alternative of similar.length > 0 ? similar : alternatives) {
      const notesBefore = this.repairs.length;
      const next = this.visit(alternative, place);
      if (next !== place.value && this.#resembles(alternative, next)) return next;
      this.repairs.length = notesBefore;
    }
    return place.value;
  }

  #resembles(alternative: unknown, value: unknown): boolean {
    const schema = followRefs(this.#root, alternative);
    if (!isRecord(schema)) return schema === true;
    const types = typesOf(schema);
    if (types !== undefined && !types.some((type) => matchesType(type, value))) return false;
    if (!isRecord(value) || !isRecord(schema.properties)) return true;
    // A property with a fixed value tells the alternatives of a tagged union apart.
    return Object.entries(schema.properties).every(
      ([key, property]) =>
        !isRecord(property) ||
        !("const" in property) ||
        !Object.hasOwn(value, key) ||
        value[key] === property.const,
    );
  }

  #visitItems(
    schema: SchemaObject,
    place: Place & { readonly value: readonly unknown[] },
  ): readonly unknown[] {
    const items = place.value;
    const tuple = Array.isArray(schema.items) ? schema.items : listOf(schema.prefixItems);
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    if (tuple.length === 0 && !isRecord(rest)) return items;
    let copy: unknown[] | undefined;
    for (const [index, item] of items.entries()) {
      if (this.#steps > MAX_STEPS) break;
      const path = [...place.path, String(index)];
      const next = this.visit(tuple[index] ?? rest, { value: item, path, fresh: place.fresh });
      if (next === item) continue;
      copy ??= [...items];
      copy[index] = next;
    }
    return copy ?? items;
  }

  #visitProperties(
    schema: SchemaObject,
    place: Place & { readonly value: Record<string, unknown> },
  ): Record<string, unknown> {
    const { value } = place;
    const properties = isRecord(schema.properties) ? schema.properties : {};
    const required = listOf(schema.required);
    const names = namesByNormalForm(schema, value);
    let copy: Record<string, unknown> | undefined;
    for (const key of Object.keys(value)) {
      const isDeclared = Object.hasOwn(properties, key);
      const name = isDeclared ? key : (names?.get(normalName(key)) ?? key);
      const property = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const child: Place = {
        value: value[key],
        path: [...place.path, name],
        fresh: place.fresh || name !== key,
      };
      const next = this.visit(property, child);
      const isUnwanted =
        next === null &&
        isDeclared &&
        !required.includes(key) &&
        this.#isSuspect(child) &&
        !this.#takesNull(property);
      if (name === key && next === value[key] && !isUnwanted) continue;
      copy ??= { ...value };
      if (name !== key)
        this.repairs.push(`${readablePath([...place.path, key])} → ${readablePath(child.path)}`);
      if (isUnwanted) this.repairs.push(`${readablePath(child.path)}: null → left out`);
      if (isUnwanted || name !== key) delete copy[key];
      if (!isUnwanted) copy[name] = next;
    }
    return copy ?? value;
  }

  #takesNull(schema: unknown): boolean {
    const target = followRefs(this.#root, schema);
    if (!isRecord(target)) return target !== false;
    const alternatives = [...listOf(target.anyOf), ...listOf(target.oneOf)];
    const types = typesOf(target);
    if (types !== undefined) return types.includes("null");
    return alternatives.length === 0 || alternatives.some((alternative) => this.#takesNull(alternative));
  }
}

/**
 * Declared names that are missing from the value, by their spelling without case and separators, so that
 * `Query` finds `query` and `maxResults` finds `max_results`. Ambiguous spellings are left out.
 */
function namesByNormalForm(
  schema: SchemaObject,
  value: Record<string, unknown>,
): ReadonlyMap<string, string> | undefined {
  if (!isRecord(schema.properties) || isRecord(schema.additionalProperties)) return undefined;
  const properties = schema.properties;
  const sent = new Map<string, number>();
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(properties, key)) sent.set(normalName(key), (sent.get(normalName(key)) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const seen = new Set<string>();
  for (const name of Object.keys(properties)) {
    const normal = normalName(name);
    const isAmbiguous = seen.has(normal) || sent.get(normal) !== 1;
    seen.add(normal);
    if (isAmbiguous || Object.hasOwn(value, name)) names.delete(normal);
    else names.set(normal, name);
  }
  return names;
}

function normalName(name: string): string {
  return name.length > 200 ? name : name.replace(/[\s_-]/g, "").toLowerCase();
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function pointer(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function withAncestors(issues: readonly Issue[]): ReadonlySet<string> {
  const places = new Set<string>([""]);
  for (const issue of issues) {
    for (let end = issue.path.length; end > 0; end = issue.path.lastIndexOf("/", end - 1)) {
      places.add(issue.path.slice(0, end));
    }
  }
  return places;
}
