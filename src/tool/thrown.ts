/** What is known about a thrown value: a type name that fits into one line, and a message. */
export interface ThrownDescription {
  readonly type: string;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 16_384;
const MAX_DEPTH = 5;
const MAX_PARTS = 5;

/**
 * Describes anything that can be thrown, without ever throwing itself: every property read may run foreign
 * code (getters, proxies), so each one is guarded on its own.
 */
export function describeThrown(thrown: unknown): ThrownDescription {
  try {
    return describe(thrown, { depth: 0, seen: new Set() });
  } catch {
    return { type: "Error", message: "a value was thrown that cannot be inspected" };
  }
}

interface Walk {
  readonly depth: number;
  readonly seen: Set<unknown>;
}

function describe(thrown: unknown, walk: Walk): ThrownDescription {
  if (thrown === null) return { type: "null", message: "null was thrown instead of an Error" };
  switch (typeof thrown) {
    case "undefined":
      return { type: "undefined", message: "undefined was thrown instead of an Error" };
    case "string":
      return { type: "string", message: thrown === "" ? "an empty string was thrown" : bounded(thrown) };
    case "function":
      return { type: "function", message: `a function was thrown: ${functionName(thrown)}` };
    case "object":
      return describeObject(thrown, walk);
    default:
      return { type: typeof thrown, message: bounded(String(thrown)) };
  }
}

function describeObject(thrown: object, walk: Walk): ThrownDescription {
  walk.seen.add(thrown);
  const type = typeName(thrown);
  const own = ownMessage(thrown);
  const parts = [own, aggregatedParts(thrown, walk), causePart({ thrown, own, walk })];
  return { type, message: bounded(parts.filter((part) => part !== "").join(" ")) };
}

type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

function read(target: object, key: PropertyKey): Read {
  try {
    return { ok: true, value: Reflect.get(target, key) };
  } catch (error) {
    return { ok: false, why: shortReason(error) };
  }
}

function shortReason(error: unknown): string {
  try {
    const message: unknown =
      typeof error === "object" && error !== null ? Reflect.get(error, "message") : error;
    return typeof message === "string" && message !== "" ? message.slice(0, 200) : "no reason given";
  } catch {
    return "no reason given";
  }
}

function typeName(thrown: object): string {
  const name = read(thrown, "name");
  if (name.ok && isTypeName(name.value)) return name.value;
  const maker = read(thrown, "constructor");
  if (maker.ok && typeof maker.value === "function") {
    const makerName = functionName(maker.value);
    if (isTypeName(makerName)) return makerName;
  }
  return "Error";
}

function isTypeName(value: unknown): value is string {
  return typeof value === "string" && /^[\p{L}_$][\p{L}\p{N}_$.-]{0,99}$/u.test(value);
}

function functionName(fn: object): string {
  const name = read(fn, "name");
  return name.ok && typeof name.value === "string" && name.value !== ""
    ? name.value.slice(0, 100)
    : "anonymous";
}

function ownMessage(thrown: object): string {
  const message = read(thrown, "message");
  if (!message.ok) return `its message cannot be read (${message.why})`;
  if (typeof message.value === "string" && message.value !== "") return bounded(message.value);
  if (message.value !== undefined && message.value !== "") {
    const shown = asText(message.value);
    if (shown !== "") return shown;
  }
  const code = read(thrown, "code");
  if (code.ok && (typeof code.value === "string" || typeof code.value === "number")) {
    return `no message (code ${String(code.value).slice(0, 100)})`;
  }
  const shown = isErrorLike(thrown) ? "" : asText(thrown);
  return shown === "" ? "no message" : shown;
}

function isErrorLike(value: object): boolean {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    return false;
  }
}

function asText(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" ? functionName(value) : bounded(String(value));
  }
  for (const attempt of [() => JSON.stringify(value), () => String(value)]) {
    try {
      const shown: unknown = attempt();
      if (typeof shown === "string" && shown !== "" && shown !== "{}") return bounded(shown);
    } catch {
      // Cyclic, BigInt inside, throwing toJSON or toString: the next way may still work.
    }
  }
  return "";
}

function aggregatedParts(thrown: object, walk: Walk): string {
  const errors = read(thrown, "errors");
  if (!errors.ok || walk.depth >= MAX_DEPTH) return "";
  try {
    if (!Array.isArray(errors.value) || errors.value.length === 0) return "";
    const all: readonly unknown[] = errors.value;
    const shown = all.slice(0, MAX_PARTS).map((part) => nested(part, walk));
    const more = all.length > MAX_PARTS ? `; and ${all.length - MAX_PARTS} more` : "";
    return `(${all.length} ${all.length === 1 ? "error" : "errors"}: ${shown.join("; ")}${more})`;
  } catch {
    return "";
  }
}

function causePart({ thrown, own, walk }: { thrown: object; own: string; walk: Walk }): string {
  const cause = read(thrown, "cause");
  if (!cause.ok || cause.value === undefined || cause.value === null || walk.depth >= MAX_DEPTH) return "";
  const shown = nested(cause.value, walk);
  return own.includes(shown) ? "" : `(caused by: ${shown})`;
}

function nested(value: unknown, walk: Walk): string {
  if (walk.seen.has(value)) return "[Circular]";
  const { type, message } = describe(value, { depth: walk.depth + 1, seen: walk.seen });
  return type === "Error" || type === "string" ? message : `${type}: ${message}`;
}

/** Keeps both ends: the reason is as often in the last line as in the first. */
function bounded(message: string): string {
  if (message.length <= MAX_MESSAGE_CHARS) return message;
  const half = MAX_MESSAGE_CHARS / 2 - 32;
  const omitted = message.length - 2 * half;
  return `${message.slice(0, half)}\n… [${omitted} characters omitted] …\n${message.slice(-half)}`;
}

/** For places where a promise is a mistake: it counts for nothing, and its rejection must not end the process. */
export function ignoreRejection(value: unknown): void {
  if (typeof value === "object" && value !== null && value instanceof Promise) value.catch(() => undefined);
}
