const MAX_DEPTH = 256;
const MAX_CHARS = 20_000_000;
const MAX_BYTES_SHOWN = 3_072;
const MAX_NUMBERS_SHOWN = 10_000;
const MAX_ITEMS = 1_000_000;

/**
 * Any value as text for a model. Strings stay as they are (handlers usually return text or JSON text);
 * everything else becomes JSON. Total: no value makes it throw.
 */
export function serializeOutput(value: unknown): string {
  if (typeof value === "string") return value;
  const plain = plainJson(value);
  if (plain !== undefined) return plain;
  try {
    return new CarefulWriter().write(value);
  } catch (error) {
    return JSON.stringify(unserializable(error));
  }
}

/** The text together with a value that is safe to serialise again: the value itself where it is plain JSON. */
export function serializeSafely(value: unknown): { readonly text: string; readonly safe: unknown } {
  const plain = typeof value === "string" ? undefined : plainJson(value);
  if (plain !== undefined) return { text: plain, safe: value };
  const text = serializeOutput(value);
  return { text, safe: typeof value === "string" ? value : (JSON.parse(text) as unknown) };
}

/**
 * The native serialiser, unless its answer is one that loses data: Map, Set, RegExp, Error and others all
 * become "{}", bytes become lists of numbers. A false alarm only costs the slower path.
 */
function plainJson(value: unknown): string | undefined {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return "null";
  try {
    if (holdsError(value)) return undefined;
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) return "null";
    const lossy = json.includes("{}") || json.includes('{"0":') || json.includes('{"type":"Buffer"');
    return lossy ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Errors with extra fields (`code`, `errno`) would silently lose their message. */
function holdsError(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Error) return true;
  if (Array.isArray(value)) return value[0] instanceof Error;
  if (ArrayBuffer.isView(value)) return false;
  const members = value as Record<string, unknown>;
  for (const key in members) {
    const member = members[key];
    if (typeof member === "object" && member instanceof Error) return true;
  }
  return false;
}

function unserializable(error: unknown): string {
  let why = "no reason given";
  try {
    const message: unknown =
      typeof error === "object" && error !== null ? Reflect.get(error, "message") : error;
    if (typeof message === "string" && message !== "") why = message.slice(0, 200);
  } catch {
    // The thrown value is as broken as the one it came from.
  }
  return `[Unserializable: ${why}]`;
}

/** What JSON leaves out of objects and turns into null inside arrays. */
const DROPPED = Symbol("dropped");

class CarefulWriter {
  readonly #open = new Set<object>();
  #written = 0;

  write(value: unknown): string {
    const json = this.#value({ value, key: "", depth: 0 });
    return json === DROPPED ? "null" : json;
  }

  #value(at: { value: unknown; key: string; depth: number }): string | typeof DROPPED {
    try {
      return this.#encode({ ...at, value: applyToJson(at.value, at.key) });
    } catch (error) {
      return this.#text(unserializable(error));
    }
  }

  #encode({ value, depth }: { value: unknown; depth: number }): string | typeof DROPPED {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "bigint":
        return this.#text(value.toString());
      case "number":
      case "boolean":
        return this.#count(JSON.stringify(value));
      case "object":
        return value === null ? "null" : this.#object(value, depth);
      default:
        return DROPPED;
    }
  }

  #object(value: object, depth: number): string {
    if (this.#open.has(value)) return this.#text("[Circular]");
    if (depth >= MAX_DEPTH) return this.#text(`[Truncated: nested deeper than ${MAX_DEPTH} levels]`);
    if (this.#written > MAX_CHARS) return this.#text("[Truncated: output too large]");
    this.#open.add(value);
    try {
      return this.#members(value, depth + 1);
    } finally {
      this.#open.delete(value);
    }
  }

  #members(value: object, depth: number): string {
    if (Array.isArray(value)) return this.#array(value, depth);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Set) return this.#array([...value], depth);
    const bytes = asBytes(value);
    if (bytes !== undefined) return this.#bytes(bytes, value);
    if (ArrayBuffer.isView(value)) return this.#numbers(value, depth);
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof RegExp || value instanceof URLSearchParams) return this.#text(String(value));
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return this.#count(JSON.stringify(value));
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
      return this.#text(Object.prototype.toString.call(value));
    }
    return this.#record(value, { keys: Object.keys(value), depth });
  }

  #array(items: readonly unknown[], depth: number): string {
    const shown: string[] = [];
    const length = Math.min(items.length, MAX_ITEMS);
    for (let index = 0; index < length && this.#written <= MAX_CHARS; index++) {
      const read = readMember(items, index);
      const json = this.#value({ value: read, key: String(index), depth });
      shown.push(json === DROPPED ? "null" : json);
    }
    if (shown.length < items.length) shown.push(this.#text(`[… ${items.length - shown.length} more]`));
    return `[${shown.join(",")}]`;
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): string {
    const entries = [...map];
    if (!entries.every(([key]) => typeof key === "string")) return this.#array(entries, depth);
    return `{${this.#pairs(
      entries.map(([key, value]) => [String(key), value] as const),
      depth,
    )}}`;
  }

  #record(value: object, { keys, depth }: { keys: readonly string[]; depth: number }): string {
    return `{${this.#pairs(
      keys.map((key) => [key, readMember(value, key)] as const),
      depth,
    )}}`;
  }

  #pairs(pairs: readonly (readonly [string, unknown])[], depth: number): string {
    const shown: string[] = [];
    for (const [key, value] of pairs) {
      if (this.#written > MAX_CHARS) break;
      const json = this.#value({ value, key, depth });
      if (json !== DROPPED) shown.push(`${this.#text(key)}:${json}`);
    }
    return shown.join(",");
  }

  #error(error: Error, depth: number): string {
    const extra = Object.keys(error).filter((key) => key !== "name" && key !== "message" && key !== "stack");
    const hasCause = "cause" in error && !extra.includes("cause");
    const keys = ["name", "message", ...extra, ...(hasCause ? ["cause"] : [])];
    return this.#record(error, { keys, depth });
  }

  #bytes(bytes: Uint8Array, value: object): string {
    const shown = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_BYTES_SHOWN));
    const note = {
      type: Buffer.isBuffer(value) ? "Buffer" : Object.prototype.toString.call(value).slice(8, -1),
      bytes: bytes.length,
      base64: shown.toString("base64"),
      ...(shown.length < bytes.length ? { truncated: `first ${shown.length} bytes shown` } : {}),
    };
    return this.#count(JSON.stringify(note));
  }

  #numbers(view: ArrayBufferView, depth: number): string {
    const numbers: unknown[] = [];
    const all = view as unknown as ArrayLike<number | bigint>;
    for (let index = 0; index < all.length && index < MAX_NUMBERS_SHOWN; index++) numbers.push(all[index]);
    if (all.length > numbers.length) numbers.push(`[… ${all.length - numbers.length} more]`);
    return this.#array(numbers, depth);
  }

  #text(value: string): string {
    return this.#count(JSON.stringify(value));
  }

  #count(json: string): string {
    this.#written += json.length;
    return json;
  }
}

function applyToJson(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return value;
  const toJson: unknown = Reflect.get(value, "toJSON");
  return typeof toJson === "function" ? Reflect.apply(toJson, value, [key]) : value;
}

/** A member whose getter throws must not take its siblings with it. */
function readMember(target: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(target, key);
  } catch (error) {
    return unserializable(error);
  }
}

function asBytes(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array || value instanceof Uint8ClampedArray) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof DataView) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Uint8Array(value);
  return undefined;
}
