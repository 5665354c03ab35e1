import { Buffer } from "node:buffer";
import type { ShellWord } from "../types.js";
import { parseOptions } from "./options.js";

/** What a filter makes of a known text; undefined when that is not foreseen. */
export type Filter = (args: readonly ShellWord[], text: string) => string | undefined;

/** Filters through which a command can be led to hide it. Each does only the plain cases. */
export const FILTERS: Readonly<Record<string, Filter>> = {
  cat: (args, text) => (operandsOf(args).every((operand) => operand === "-") ? text : undefined),
  tee: (_args, text) => text,
  base64: (args, text) => (asks(args, "d", "D", "decode") ? fromBase64(text) : toBase64(text)),
  base32: (args, text) => (asks(args, "d", "decode") ? fromBase32(text) : undefined),
  basenc: (args, text) => {
    if (!asks(args, "d", "decode")) return undefined;
    if (asks(args, "base16")) return fromHex(text);
    return asks(args, "base32") ? fromBase32(text) : fromBase64(text);
  },
  xxd: (args, text) =>
    asks(args, "r", "revert") && asks(args, "p", "ps", "plain") ? fromHex(text) : undefined,
  openssl: (args, text) => {
    const words = args.map((arg) => arg.text);
    const base64 = words[0] === "base64" || words.includes("-base64") || words.includes("-a");
    return base64 && words.includes("-d") ? fromBase64(text) : undefined;
  },
  rev: (_args, text) =>
    text
      .split("\n")
      .map((line) => [...line].reverse().join(""))
      .join("\n"),
  tac: (_args, text) => `${text.replace(/\n$/, "").split("\n").reverse().join("\n")}\n`,
  tr: (args, text) => translate(args, text),
  head: (args, text) => firstLines(args, text),
  sort: (args, text) =>
    args.length === 0 ? `${text.replace(/\n$/, "").split("\n").sort().join("\n")}\n` : undefined,
  uniq: (args, text) => (args.length === 0 ? text : undefined),
  cut: (args, text) => cutCharacters(args, text),
  awk: (args, text) => (printsAll(args) ? text : undefined),
  gawk: (args, text) => (printsAll(args) ? text : undefined),
  mawk: (args, text) => (printsAll(args) ? text : undefined),
  sed: (args, text) => substitute(args, text),
  gsed: (args, text) => substitute(args, text),
  sponge: (_args, text) => text,
  pv: (_args, text) => text,
};

/** `awk 1`, `awk '{print}'`. */
function printsAll(args: readonly ShellWord[]): boolean {
  return args.length === 1 && /^\s*(?:1|\{\s*print(?:\s+\$0)?\s*;?\s*\})\s*$/.test(args[0]?.text ?? "");
}

const MOST_EDITS = 32;
const LONGEST_EDITED = 16_384;

/** `s/this/that/g` with plain texts, one or several of them. */
function substitute(args: readonly ShellWord[], text: string): string | undefined {
  const { operands, values, flags } = parseOptions(args, { taking: ["e", "expression"] });
  const given = [...(values.get("e") ?? []), ...(values.get("expression") ?? [])];
  const scripts = given.length > 0 ? given : operands;
  if (scripts.length === 0 || [...flags].some((flag) => !/^(?:e|E|r|expression)$/.test(flag)))
    return undefined;
  const edits = scripts.flatMap((word) => word.text.split(/;\s*(?=s\W)/));
  if (edits.length > MOST_EDITS) return undefined;
  let done = text;
  for (const script of edits) {
    // Doubling a text is the oldest way to waste time.
    if (done.length > LONGEST_EDITED) return undefined;
    const match = /^\s*s([^\w\s\\])((?:(?!\1)[^\\])*)\1((?:(?!\1)[^\\&])*)\1(g?)\s*$/s.exec(script);
    if (match === null || /[.*[\]^$+?(){}|]/.test(match[2] ?? "")) return undefined;
    const [, , plain = "", replacement = "", all] = match;
    const edit = (line: string): string =>
      all === "g" ? line.replaceAll(plain, () => replacement) : line.replace(plain, () => replacement);
    done = done.split("\n").map(edit).join("\n");
  }
  return done;
}

function operandsOf(args: readonly ShellWord[]): readonly string[] {
  return parseOptions(args).operands.map((operand) => operand.text);
}

function asks(args: readonly ShellWord[], ...names: readonly string[]): boolean {
  return args.some(({ text }) => {
    if (!text.startsWith("-")) return false;
    const name = text.replace(/^--?/, "");
    if (names.includes(name)) return true;
    return /^-[A-Za-z]+$/.test(text) && names.some((wanted) => wanted.length === 1 && name.includes(wanted));
  });
}

function toBase64(text: string): string {
  return `${Buffer.from(text).toString("base64")}\n`;
}

function fromBase64(text: string): string | undefined {
  const packed = text.replace(/\s+/g, "");
  return /^[\w+/-]*=*$/.test(packed) ? Buffer.from(packed, "base64").toString("utf8") : undefined;
}

function fromHex(text: string): string | undefined {
  const packed = text.replace(/\s+|\\x/g, "");
  return /^(?:[\da-f]{2})*$/i.test(packed) ? Buffer.from(packed, "hex").toString("utf8") : undefined;
}

function fromBase32(text: string): string | undefined {
  const packed = text.replace(/\s+|=+$/g, "").toUpperCase();
  if (!/^[A-Z2-7]*$/.test(packed)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of packed) {
    held = ((held << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Buffer.from(bytes).toString("utf8");
}

function translate(args: readonly ShellWord[], text: string): string | undefined {
  const { flags, operands } = parseOptions(args);
  const [from, to] = operands.map((operand) => expandSet(operand.text));
  if (from === undefined || flags.has("c") || flags.has("C") || flags.has("complement")) return undefined;
  if (flags.has("d") || flags.has("delete")) return [...text].filter((one) => !from.includes(one)).join("");
  if (to === undefined || to.length === 0) return undefined;
  return [...text]
    .map((one) => {
      const at = from.lastIndexOf(one);
      return at < 0 ? one : (to[at] ?? to.at(-1) ?? "");
    })
    .join("");
}

function expandSet(set: string): readonly string[] | undefined {
  const named = set
    .replaceAll("[:lower:]", "a-z")
    .replaceAll("[:upper:]", "A-Z")
    .replaceAll("[:digit:]", "0-9")
    .replaceAll("[:space:]", " \\t\\n")
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\\\/g, "\\");
  if (named.includes("[:") || named.length > 256) return undefined;
  const characters: string[] = [];
  for (const [, low, high, single] of named.matchAll(/(.)-(.)|([\s\S])/gsu)) {
    if (single !== undefined) characters.push(single);
    else {
      const end = (high ?? "").codePointAt(0) ?? 0;
      for (let code = (low ?? "").codePointAt(0) ?? 0; code <= end && characters.length < 1_024; code++)
        characters.push(String.fromCodePoint(code));
    }
  }
  return characters;
}

function firstLines(args: readonly ShellWord[], text: string): string | undefined {
  const { values, flags } = parseOptions(args, { taking: ["n", "c", "lines", "bytes"] });
  const bytes = (values.get("c") ?? values.get("bytes"))?.[0]?.text;
  if (bytes !== undefined) return /^\d+$/.test(bytes) ? text.slice(0, Number(bytes)) : undefined;
  const short = [...flags].filter((flag) => /^\d$/.test(flag)).join("");
  const lines = (values.get("n") ?? values.get("lines"))?.[0]?.text ?? (short === "" ? "10" : short);
  return /^\d+$/.test(lines) ? text.split("\n").slice(0, Number(lines)).join("\n") : undefined;
}

function cutCharacters(args: readonly ShellWord[], text: string): string | undefined {
  const { values } = parseOptions(args, { taking: ["c", "b", "d", "f"] });
  const range = /^(\d*)(-?)(\d*)$/.exec((values.get("c") ?? values.get("b"))?.[0]?.text ?? "x");
  if (range === null) return undefined;
  const start = range[1] === "" ? 0 : Number(range[1]) - 1;
  const end = range[2] === "" ? start + 1 : range[3] === "" ? undefined : Number(range[3]);
  return text
    .split("\n")
    .map((line) => line.slice(start, end))
    .join("\n");
}
