import { Buffer } from "node:buffer";
import { UNKNOWN } from "../types.js";

/** What an expression of a program is known to be. */
export type CodeValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly CodeValue[] }
  | { readonly kind: "record"; readonly fields: ReadonlyMap<string, CodeValue> }
  /** A dotted name: a module, a function, a member of something. */
  | { readonly kind: "name"; readonly name: string; readonly receiver?: CodeValue }
  | { readonly kind: "unknown"; readonly origin?: Origin };

/** Where text that nobody knows comes from. */
export type Origin = "file" | "network" | "decoded" | "command" | "input";

export const NOTHING: CodeValue = { kind: "unknown" };

export const textValue = (text: string): CodeValue => ({ kind: "text", text });

/** The text of a value; pieces that only a run would tell are UNKNOWN. */
export function textOf(value: CodeValue | undefined): string {
  if (value?.kind === "text" || value?.kind === "number") return value.text;
  return UNKNOWN;
}

export function isWhollyUnknown(text: string): boolean {
  return text.replaceAll(UNKNOWN, "").trim() === "";
}

export function concatenate(left: CodeValue, right: CodeValue): CodeValue {
  if (left.kind === "list" && right.kind === "list")
    return { kind: "list", items: [...left.items, ...right.items] };
  if (left.kind === "list") return { kind: "list", items: [...left.items, NOTHING] };
  if (left.kind !== "text" && right.kind !== "text") return left.kind === "unknown" ? left : NOTHING;
  const text = textOf(left) + textOf(right);
  return text.length > LONGEST_TEXT ? NOTHING : textValue(text);
}

/** Doubling a text is quickly written; nobody needs to know what comes out. */
const LONGEST_TEXT = 65_536;

/** Folders and names joined with one slash. */
export function joinPaths(parts: readonly CodeValue[]): CodeValue {
  let path = "";
  for (const part of parts) {
    const text = textOf(part);
    path = text.startsWith("/") || path === "" ? text : `${path.replace(/\/$/, "")}/${text}`;
  }
  return textValue(path);
}

/** `"rm %s" % name`, `"rm {}".format(name)`: the holes become unknown. */
export function withHoles(text: string): string {
  return text.replace(/%[-+#0 ]*\d*(?:\.\d+)?[a-zA-Z]|\{[\w.!:]*\}/g, UNKNOWN);
}

export function decodeText(text: string, encoding: "base64" | "hex"): CodeValue {
  if (text.includes(UNKNOWN)) return { kind: "unknown", origin: "decoded" };
  return textValue(Buffer.from(text.replace(/\s+/g, ""), encoding).toString("utf8"));
}

/** One word of a shell command; unknown pieces become a variable nobody set. */
export function quoteForShell(text: string): string {
  if (/^[\w./:=@%+,-]+$/.test(text)) return text;
  return text
    .split(UNKNOWN)
    .map((piece) => (piece === "" ? "" : `'${piece.replaceAll("'", "'\\''")}'`))
    .join(UNKNOWN_VARIABLE);
}

/** Stands for an unknown piece inside a shell text that is handed on to be judged. */
const UNKNOWN_VARIABLE = '"$unknown_value"';

/** A text meant for a shell as it is; unknown pieces may become several words there. */
export function shellText(text: string): string {
  return text.replaceAll(UNKNOWN, "$unknown_value");
}
