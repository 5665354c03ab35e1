import { bindImports } from "./code-imports.js";
import type { Language } from "./code-languages.js";
import { type CodeToken, tokenize } from "./code-tokens.js";
import {
  type CodeValue,
  concatenate,
  joinPaths,
  NOTHING,
  textOf,
  textValue,
  withHoles,
} from "./code-values.js";

/** One call met in a program, names followed to the module they come from. */
export interface CodeCall {
  /** `os.system`, `fs.rmSync`; begins with a dot for a method of a value: `.unlink`. */
  readonly name: string;
  readonly args: readonly CodeValue[];
  readonly keywords: ReadonlyMap<string, CodeValue>;
  readonly receiver?: CodeValue;
}

/** What the reader tells about a program. */
export interface CodeFacts {
  readonly calls: CodeCall[];
  /** Text between backticks, handed to a shell by the language itself. */
  readonly shellTexts: string[];
  /** Every name and every known string, for questions that need no more. */
  readonly names: Set<string>;
  /** Modules and values read as a whole: `os.environ`, `process.env.HOME`. */
  readonly members: Set<string>;
}

/** Gives the value of a call from its name and arguments. */
export type CallEvaluator = (call: CodeCall) => CodeValue;

export interface ReaderTools {
  readonly evaluate: CallEvaluator;
  /** Functions that take arguments without parentheses in languages that allow it. */
  readonly bare: (name: string) => boolean;
  /** Values of names such as `process.env.HOME`. */
  readonly member: (name: string) => CodeValue | undefined;
}

export interface CodeSetting {
  readonly language: Language;
  readonly tools: ReaderTools;
}

const DEEPEST = 60;
/** Longer chains of members say no more, and each step would copy the name so far. */
const LONGEST_NAME = 120;
const SKIPPED = new Set(
  "new await yield not return const let var my our local lambda async typeof void delete print puts echo say then do else begin elif case when raise throw and or".split(
    " ",
  ),
);
const NO_CALL = new Set(
  "if while for foreach elsif elif switch until unless catch function def sub fn with except return and or not in is".split(
    " ",
  ),
);

/** Reads a program for calls and simple values; undefined when it cannot be read. */
export function readCode(code: string, { language, tools }: CodeSetting): CodeFacts | undefined {
  const facts: CodeFacts = { calls: [], shellTexts: [], names: new Set(), members: new Set() };
  const bindings = new Map<string, CodeValue>();
  const waiting = [{ code, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.depth > DEEPEST) return undefined;
    const tokens = tokenize(next.code, language);
    if (tokens === undefined) return undefined;
    const { depth } = next;
    const embedded = (inner: string): void => {
      waiting.push({ code: inner, depth: depth + 1 });
    };
    const reader = new Reader({ tokens, language, tools, facts, bindings, embedded });
    if (!reader.readAll()) return undefined;
  }
  return facts;
}

interface Reading {
  readonly tokens: readonly CodeToken[];
  readonly language: Language;
  readonly tools: ReaderTools;
  readonly facts: CodeFacts;
  readonly bindings: Map<string, CodeValue>;
  readonly embedded: (code: string) => void;
}

/** Walks the tokens once, from left to right; precedence does not matter for what is asked. */
class Reader {
  readonly #reading: Reading;
  #at = 0;
  #depth = 0;
  #tooDeep = false;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  readAll(): boolean {
    while (this.#at < this.#reading.tokens.length && !this.#tooDeep) this.#statement();
    return !this.#tooDeep;
  }

  #peek(ahead = 0): CodeToken | undefined {
    return this.#reading.tokens[this.#at + ahead];
  }

  #isSign(text: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token?.kind === "sign" && token.text === text;
  }

  #statement(): void {
    if (this.#import() || this.#destructuring() || this.#assignment()) return;
    if (this.#expression() === undefined) this.#at++;
  }

  /** `import os as o`, `from os import system as s`, `import {exec} from "child_process"`. */
  #import(): boolean {
    const word = this.#peek();
    if (word?.kind !== "name" || (word.text !== "import" && word.text !== "from")) return false;
    const before = this.#peek(-1);
    if (before !== undefined && !(before.kind === "sign" && /^[\n;:{}(,]$/.test(before.text))) return false;
    if (this.#isSign("(", 1)) return false;
    const line: CodeToken[] = [];
    let depth = 0;
    for (let index = this.#at; index < this.#reading.tokens.length && line.length < 80; index++) {
      const token = this.#reading.tokens[index] as CodeToken;
      if (token.kind === "sign" && /^[({]$/.test(token.text)) depth++;
      if (token.kind === "sign" && /^[)}]$/.test(token.text)) depth--;
      if (depth <= 0 && token.kind === "sign" && /^[\n;]$/.test(token.text)) break;
      line.push(token);
    }
    this.#at += line.length;
    bindImports(line, this.#reading.bindings);
    return true;
  }

  /** `const {execSync: run} = require("child_process")`. */
  #destructuring(): boolean {
    const declared = /^(?:const|let|var)$/.test(this.#peek()?.text ?? "") ? 1 : 0;
    if (this.#reading.language.name !== "javascript" || !this.#isSign("{", declared)) return false;
    const picked: [string, string][] = [];
    let index = declared + 1;
    for (; index < 60; index++) {
      const token = this.#peek(index);
      if (token === undefined || (token.kind === "sign" && !/^[,:}]$/.test(token.text))) return false;
      if (token.text === "}") break;
      if (token.kind !== "name") continue;
      const renamed = this.#isSign(":", index + 1) ? this.#peek(index + 2) : undefined;
      picked.push([token.text, renamed?.text ?? token.text]);
      if (renamed !== undefined) index += 2;
    }
    if (!this.#isSign("=", index + 1)) return false;
    this.#at += index + 2;
    const value = this.#expression() ?? NOTHING;
    for (const [name, local] of picked)
      this.#reading.bindings.set(
        local,
        value.kind === "name" ? { kind: "name", name: `${value.name}.${name}` } : NOTHING,
      );
    return true;
  }

  #assignment(): boolean {
    let ahead = 0;
    while (
      /^(?:const|let|var|my|our|local|final|val|def)$/.test(this.#peek(ahead)?.text ?? "") &&
      this.#peek(ahead + 1)?.kind === "name"
    )
      ahead++;
    const name = this.#peek(ahead);
    const sign = this.#peek(ahead + 1);
    if (name?.kind !== "name" || sign?.kind !== "sign" || !/^(?:=|:=|\+=|\.=|<-)$/.test(sign.text))
      return false;
    this.#at += ahead + 2;
    const value = this.#item(STATEMENT_END);
    const { bindings } = this.#reading;
    const joins = sign.text === "+=" || sign.text === ".=";
    bindings.set(name.text, joins ? concatenate(bindings.get(name.text) ?? NOTHING, value) : value);
    return true;
  }

  /** An expression up to one of the ends; unknown when more than one value stands there. */
  #item(ends: RegExp): CodeValue {
    let value: CodeValue | undefined;
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (token.kind === "sign" && ends.test(token.text)) break;
      const before = this.#at;
      const next = this.#expression();
      if (next === undefined) this.#at = Math.max(before + 1, this.#at);
      value = value === undefined && next !== undefined ? next : NOTHING;
      if (this.#tooDeep) break;
    }
    return value ?? NOTHING;
  }

  #expression(): CodeValue | undefined {
    if (++this.#depth > DEEPEST) this.#tooDeep = true;
    let value = this.#tooDeep ? undefined : this.#operand();
    while (value !== undefined && !this.#tooDeep) {
      const sign = this.#peek();
      if (sign?.kind === "text" && value.kind === "text" && this.#reading.language.pythonStrings === true) {
        this.#at++;
        this.#follow(sign);
        value = concatenate(value, textValue(sign.text));
      } else if (sign?.kind === "sign" && this.#reading.language.concat.has(sign.text)) {
        this.#at++;
        this.#skipLines();
        value = concatenate(value, this.#operand() ?? NOTHING);
      } else if (sign?.text === "%" && sign.kind === "sign" && value.kind === "text") {
        this.#at++;
        this.#operand();
        value = textValue(withHoles(value.text));
      } else if (sign?.text === "/" && sign.kind === "sign" && value.kind === "text") {
        this.#at++;
        value = joinPaths([value, this.#operand() ?? NOTHING]);
      } else break;
    }
    this.#depth--;
    return value;
  }

  #operand(): CodeValue | undefined {
    const token = this.#peek();
    if (token === undefined) return undefined;
    this.#at++;
    let value: CodeValue | undefined;
    if (token.kind === "text") {
      this.#follow(token);
      value = textValue(token.text);
    } else if (token.kind === "words")
      value = {
        kind: "list",
        items: token.text
          .split(/\s+/)
          .filter((word) => word !== "")
          .map(textValue),
      };
    else if (token.kind === "command") {
      this.#follow(token);
      this.#reading.facts.shellTexts.push(token.text);
      value = { kind: "unknown", origin: "command" };
    } else if (token.kind === "number") value = { kind: "number", text: token.text };
    else if (token.kind === "name") value = this.#named(token);
    else value = this.#signed(token);
    return value === undefined ? undefined : this.#trailers(value);
  }

  #named(token: CodeToken): CodeValue | undefined {
    const { facts, bindings, tools } = this.#reading;
    facts.names.add(token.text);
    if (SKIPPED.has(token.text) && !this.#isSign("(") && !this.#isSign("."))
      return this.#operand() ?? NOTHING;
    const bound = bindings.get(token.text);
    if (bound !== undefined && !(bound.kind === "unknown" && tools.bare(token.text))) return bound;
    const star = bindings.get("*");
    const imported = star?.kind === "name" ? star.name.replace("*", token.text) : undefined;
    if (imported !== undefined && tools.bare(imported)) return { kind: "name", name: imported };
    return tools.member(token.text) ?? { kind: "name", name: token.text };
  }

  #signed(token: CodeToken): CodeValue | undefined {
    if (token.text === "(") {
      const { items } = this.#arguments(")");
      return items.length === 1 ? items[0] : { kind: "list", items };
    }
    if (token.text === "[") return { kind: "list", items: this.#arguments("]").items };
    if (token.text === "{") return this.#braces();
    if (token.text === "-" && this.#peek()?.kind === "number")
      return { kind: "number", text: `-${this.#tokenText()}` };
    if (/^[-!~+&*\\?]$/.test(token.text) || token.text === "..." || token.text === "**")
      return this.#operand();
    this.#at--;
    return undefined;
  }

  #tokenText(): string {
    const { text } = this.#peek() as CodeToken;
    this.#at++;
    return text;
  }

  /** A block of statements or an object: fields are kept, calls inside count like all others. */
  #braces(): CodeValue {
    const fields = new Map<string, CodeValue>();
    while (this.#peek() !== undefined && !this.#isSign("}") && !this.#tooDeep) {
      const key = this.#peek();
      if (
        key !== undefined &&
        (key.kind === "name" || key.kind === "text") &&
        (this.#isSign(":", 1) || this.#isSign("=>", 1))
      ) {
        this.#at += 2;
        fields.set(key.text, this.#item(FIELD_END));
      } else this.#statement();
    }
    this.#at++;
    return { kind: "record", fields };
  }

  #arguments(close: string): { items: CodeValue[]; keywords: Map<string, CodeValue> } {
    const items: CodeValue[] = [];
    const keywords = new Map<string, CodeValue>();
    const ends = close === ")" ? /^[,)]$/ : /^[,\]]$/;
    while (this.#peek() !== undefined && !this.#tooDeep) {
      this.#skipLines();
      if (this.#isSign(close)) break;
      if (this.#isSign(",")) {
        this.#at++;
        continue;
      }
      const key = this.#peek();
      if (key?.kind === "name" && (this.#isSign("=", 1) || (this.#isSign(":", 1) && !this.#isSign(":", 2)))) {
        this.#at += 2;
        keywords.set(key.text, this.#item(ends));
      } else items.push(this.#item(ends));
    }
    this.#at++;
    return { items, keywords };
  }

  #trailers(first: CodeValue): CodeValue {
    let value = first;
    for (;;) {
      const token = this.#peek();
      if (token === undefined || this.#tooDeep) return value;
      if (
        token.kind === "sign" &&
        this.#reading.language.members.has(token.text) &&
        this.#peek(1)?.kind === "name"
      ) {
        this.#at++;
        value = this.#memberOf(value, this.#tokenText());
      } else if (this.#isSign("\n") && this.#isSign(".", 1)) this.#at++;
      else if (this.#isSign("(") && value.kind === "name" && !NO_CALL.has(value.name)) {
        this.#at++;
        value = this.#call(value, this.#arguments(")"));
      } else if (this.#isSign("(") && token.glued && value.kind !== "name") {
        this.#at++;
        const given = this.#arguments(")");
        // In PHP a variable that holds the name of a function can be called.
        const named = value.kind === "text" && this.#reading.language.name === "php";
        value = named ? this.#call({ kind: "name", name: textOf(value) }, given) : NOTHING;
      } else if (this.#isSign("[") && token.glued) {
        this.#at++;
        value = this.#indexed(value);
      } else if (
        this.#isSign("{") &&
        token.glued &&
        this.#reading.language.name === "perl" &&
        value.kind === "name"
      ) {
        this.#at++;
        const key = this.#item(/^\}$/);
        this.#at++;
        value = this.#memberOf(value, key.kind === "name" ? key.name : textOf(key));
      } else if (
        token.kind === "text" &&
        token.glued &&
        value.kind === "name" &&
        this.#reading.language.name === "javascript"
      ) {
        this.#at++;
        this.#follow(token);
        value = this.#call(value, { items: [textValue(token.text)], keywords: new Map() });
      } else if (value.kind === "name" && this.#takesBareArguments(value.name, token)) {
        value = this.#call(value, this.#bareArguments());
      } else return value;
    }
  }

  #takesBareArguments(name: string, next: CodeToken): boolean {
    const { language, tools } = this.#reading;
    if (language.bareCalls !== true || !tools.bare(name) || next.glued) return false;
    if (next.kind === "sign")
      return (
        next.text === "[" || next.text === "-" || next.text === "<" || next.text === "*" || next.text === "("
      );
    return !(next.kind === "name" && /^(?:if|unless|while|and|or|for|do)$/.test(next.text));
  }

  #bareArguments(): { items: CodeValue[]; keywords: Map<string, CodeValue> } {
    const items: CodeValue[] = [];
    while (this.#peek() !== undefined && !this.#tooDeep) {
      items.push(this.#item(BARE_END));
      if (!this.#isSign(",")) break;
      this.#at++;
    }
    return { items, keywords: new Map() };
  }

  #memberOf(value: CodeValue, name: string): CodeValue {
    const full =
      value.kind === "name" && value.name.length < LONGEST_NAME ? `${value.name}.${name}` : `.${name}`;
    this.#reading.facts.names.add(name);
    this.#reading.facts.members.add(full);
    if (value.kind !== "name") return { kind: "name", name: full, receiver: value };
    return (
      this.#reading.tools.member(full) ?? {
        kind: "name",
        name: full,
        ...(value.receiver === undefined ? {} : { receiver: value.receiver }),
      }
    );
  }

  #indexed(value: CodeValue): CodeValue {
    const reversed = this.#isSign("::") && this.#isSign("-", 1);
    const key = this.#item(/^\]$/);
    this.#at++;
    if (value.kind === "text") return reversed ? textValue([...value.text].reverse().join("")) : NOTHING;
    if (value.kind === "list" && key.kind === "number") return value.items[Number(key.text)] ?? NOTHING;
    if (value.kind === "name" && (key.kind === "text" || key.kind === "name"))
      return this.#memberOf(value, key.kind === "text" ? key.text : "?");
    return NOTHING;
  }

  #call(
    callee: Extract<CodeValue, { kind: "name" }>,
    given: { items: CodeValue[]; keywords: Map<string, CodeValue> },
  ): CodeValue {
    const call: CodeCall = {
      name: callee.name,
      args: given.items,
      keywords: given.keywords,
      ...(callee.receiver === undefined ? {} : { receiver: callee.receiver }),
    };
    this.#reading.facts.calls.push(call);
    return this.#reading.tools.evaluate(call);
  }

  #follow(token: CodeToken): void {
    for (const code of token.embedded ?? []) this.#reading.embedded(code);
  }

  #skipLines(): void {
    while (this.#isSign("\n")) this.#at++;
  }
}

const STATEMENT_END = /^[\n;})]$/;
const FIELD_END = /^[,}]$/;
const BARE_END = /^(?:[,\n;}|)]|\|\||&&|->)$/;
