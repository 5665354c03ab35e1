import { bindImports, destructuredNames, importLine } from "./imports.js";
import type { Language } from "./languages.js";
import { type CodeToken, Cursor, tokenize } from "./tokens.js";
import {
  type CodeCall,
  type CodeFacts,
  type CodeSetting,
  type CodeValue,
  changed,
  concatenate,
  joinPaths,
  NOTHING,
  type ReaderTools,
  textOf,
  textValue,
  withHoles,
} from "./values.js";

const DEEPEST = 60;
/** Longer chains of members say no more, and each step would copy the name so far. */
const LONGEST_NAME = 120;
/** Strings kept for questions about the whole program. */
const MOST_TEXTS = 200;
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
  const facts: CodeFacts = { calls: [], shellTexts: [], names: new Set(), members: new Set(), texts: [] };
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
  readonly #cursor: Cursor;
  #depth = 0;
  #tooDeep = false;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#cursor = new Cursor(reading.tokens);
  }

  readAll(): boolean {
    while (!this.#cursor.done && !this.#tooDeep) this.#statement();
    return !this.#tooDeep;
  }

  #statement(): void {
    if (this.#import() || this.#destructuring() || this.#assignment()) return;
    if (this.#expression() === undefined) this.#cursor.at++;
  }

  #import(): boolean {
    const line = importLine(this.#cursor);
    if (line === undefined) return false;
    this.#cursor.at += line.length;
    bindImports(line, this.#reading.bindings);
    return true;
  }

  #destructuring(): boolean {
    if (this.#reading.language.name !== "javascript") return false;
    const found = destructuredNames(this.#cursor);
    if (found === undefined) return false;
    this.#cursor.at += found.length;
    const value = this.#expression();
    for (const [name, local] of found.names)
      this.#reading.bindings.set(
        local,
        value?.kind === "name" ? { kind: "name", name: `${value.name}.${name}` } : NOTHING,
      );
    return true;
  }

  #assignment(): boolean {
    let ahead = 0;
    while (
      /^(?:const|let|var|my|our|local|final|val|def)$/.test(this.#cursor.peek(ahead)?.text ?? "") &&
      this.#cursor.peek(ahead + 1)?.kind === "name"
    )
      ahead++;
    const name = this.#cursor.peek(ahead);
    const sign = this.#cursor.peek(ahead + 1);
    if (name?.kind !== "name" || sign?.kind !== "sign" || !/^(?:=|:=|\+=|\.=|<-)$/.test(sign.text))
      return false;
    this.#cursor.at += ahead + 2;
    const value = this.#item(STATEMENT_END);
    const { bindings } = this.#reading;
    const joins = sign.text === "+=" || sign.text === ".=";
    bindings.set(name.text, joins ? concatenate(bindings.get(name.text) ?? NOTHING, value) : value);
    return true;
  }

  /** An expression up to one of the ends; unknown when more than one value stands there. */
  #item(ends: RegExp): CodeValue {
    let value: CodeValue | undefined;
    for (let token = this.#cursor.peek(); token !== undefined; token = this.#cursor.peek()) {
      if (token.kind === "sign" && ends.test(token.text)) break;
      const before = this.#cursor.at;
      const next = this.#expression();
      if (next === undefined) this.#cursor.at = Math.max(before + 1, this.#cursor.at);
      value = value === undefined && next !== undefined ? next : NOTHING;
      if (this.#tooDeep) break;
    }
    return value ?? NOTHING;
  }

  #expression(): CodeValue | undefined {
    let value = this.#operand();
    while (value !== undefined && !this.#tooDeep) {
      const sign = this.#cursor.peek();
      if (sign?.kind === "text" && value.kind === "text" && this.#reading.language.pythonStrings === true) {
        this.#cursor.at++;
        this.#follow(sign);
        value = concatenate(value, textValue(sign.text));
      } else if (sign?.kind === "sign" && this.#reading.language.concat.has(sign.text)) {
        this.#cursor.at++;
        this.#cursor.skipLines();
        value = concatenate(value, this.#operand() ?? NOTHING);
      } else if (sign?.text === "%" && sign.kind === "sign" && value.kind === "text") {
        this.#cursor.at++;
        this.#operand();
        value = withHoles(value.text);
      } else if (sign?.text === "/" && sign.kind === "sign" && value.kind === "text") {
        this.#cursor.at++;
        value = joinPaths([value, this.#operand() ?? NOTHING]);
      } else break;
    }
    return value;
  }

  #operand(): CodeValue | undefined {
    const token = this.#cursor.peek();
    if (token === undefined || this.#tooDeep) return undefined;
    if (++this.#depth > DEEPEST) this.#tooDeep = true;
    this.#cursor.at++;
    const value = this.#primary(token);
    const whole = value === undefined ? undefined : this.#trailers(value);
    this.#depth--;
    return whole;
  }

  #primary(token: CodeToken): CodeValue | undefined {
    switch (token.kind) {
      case "text":
        this.#follow(token);
        if (this.#reading.facts.texts.length < MOST_TEXTS) this.#reading.facts.texts.push(token.text);
        return textValue(token.text);
      case "words":
        return { kind: "list", items: token.text.trim().split(/\s+/).map(textValue) };
      case "command":
        this.#follow(token);
        this.#reading.facts.shellTexts.push(token.text);
        return { kind: "unknown", origin: "command" };
      case "number":
        return { kind: "number", text: token.text };
      case "name":
        return this.#named(token);
      default:
        return this.#signed(token);
    }
  }

  #named(token: CodeToken): CodeValue | undefined {
    const { facts, bindings, tools } = this.#reading;
    facts.names.add(token.text);
    if (SKIPPED.has(token.text) && !this.#cursor.isSign("(") && !this.#cursor.isSign("."))
      return this.#operand() ?? NOTHING;
    const bound = bindings.get(token.text);
    if (bound !== undefined && !(bound.kind === "unknown" && tools.bare(token.text)))
      return (bound.kind === "name" ? tools.member(bound.name) : undefined) ?? bound;
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
    if (token.text === "-" && this.#cursor.peek()?.kind === "number")
      return { kind: "number", text: `-${this.#cursor.take()}` };
    if (/^[-!~+&*\\?]$/.test(token.text) || token.text === "..." || token.text === "**")
      return this.#operand();
    this.#cursor.at--;
    return undefined;
  }

  /** A block of statements or an object: fields are kept, calls inside count like all others. */
  #braces(): CodeValue {
    const fields = new Map<string, CodeValue>();
    while (this.#cursor.peek() !== undefined && !this.#cursor.isSign("}") && !this.#tooDeep) {
      const key = this.#cursor.peek();
      if (
        key !== undefined &&
        (key.kind === "name" || key.kind === "text") &&
        (this.#cursor.isSign(":", 1) || this.#cursor.isSign("=>", 1))
      ) {
        this.#cursor.at += 2;
        fields.set(key.text, this.#item(FIELD_END));
      } else this.#statement();
    }
    this.#cursor.at++;
    return { kind: "record", fields };
  }

  #arguments(close: string): { items: CodeValue[]; keywords: Map<string, CodeValue> } {
    const items: CodeValue[] = [];
    const keywords = new Map<string, CodeValue>();
    const ends = close === ")" ? /^[,)]$/ : /^[,\]]$/;
    while (this.#cursor.peek() !== undefined && !this.#tooDeep) {
      this.#cursor.skipLines();
      if (this.#cursor.isSign(close)) break;
      if (this.#cursor.isSign(",")) {
        this.#cursor.at++;
        continue;
      }
      const key = this.#cursor.peek();
      if (
        key?.kind === "name" &&
        (this.#cursor.isSign("=", 1) || (this.#cursor.isSign(":", 1) && !this.#cursor.isSign(":", 2)))
      ) {
        this.#cursor.at += 2;
        keywords.set(key.text, this.#item(ends));
      } else items.push(this.#item(ends));
    }
    this.#cursor.at++;
    return { items, keywords };
  }

  #trailers(first: CodeValue): CodeValue {
    let value = first;
    for (;;) {
      const token = this.#cursor.peek();
      if (token === undefined || this.#tooDeep) return value;
      if (
        token.kind === "sign" &&
        this.#reading.language.members.has(token.text) &&
        this.#cursor.peek(1)?.kind === "name"
      ) {
        this.#cursor.at++;
        value = this.#memberOf(value, this.#cursor.take());
      } else if (this.#cursor.isSign("\n") && this.#cursor.isSign(".", 1)) this.#cursor.at++;
      else if (this.#cursor.isSign("(") && value.kind === "name" && !NO_CALL.has(value.name)) {
        this.#cursor.at++;
        value = this.#call(value, this.#arguments(")"));
      } else if (this.#cursor.isSign("(") && token.glued && value.kind !== "name") {
        this.#cursor.at++;
        const given = this.#arguments(")");
        // In PHP a variable that holds the name of a function can be called.
        const named = value.kind === "text" && this.#reading.language.name === "php";
        value = named ? this.#call({ kind: "name", name: textOf(value) }, given) : NOTHING;
      } else if (this.#cursor.isSign("[") && token.glued) {
        this.#cursor.at++;
        value = this.#indexed(value);
      } else if (
        this.#cursor.isSign("{") &&
        token.glued &&
        this.#reading.language.name === "perl" &&
        value.kind === "name"
      ) {
        this.#cursor.at++;
        const key = this.#item(/^\}$/);
        this.#cursor.at++;
        value = this.#memberOf(value, key.kind === "name" ? key.name : textOf(key));
      } else if (
        token.kind === "text" &&
        token.glued &&
        value.kind === "name" &&
        this.#reading.language.name === "javascript"
      ) {
        this.#cursor.at++;
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
    while (this.#cursor.peek() !== undefined && !this.#tooDeep) {
      items.push(this.#item(BARE_END));
      if (!this.#cursor.isSign(",")) break;
      this.#cursor.at++;
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
        receiver: value.receiver,
      }
    );
  }

  #indexed(value: CodeValue): CodeValue {
    const reversed = this.#cursor.isSign("::") && this.#cursor.isSign("-", 1);
    const key = this.#item(/^\]$/);
    this.#cursor.at++;
    if (value.kind === "text")
      return reversed ? changed(value.text, (text) => [...text].reverse().join("")) : NOTHING;
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
      receiver: callee.receiver,
    };
    this.#reading.facts.calls.push(call);
    return this.#reading.tools.evaluate(call);
  }

  #follow(token: CodeToken): void {
    for (const code of token.embedded ?? []) this.#reading.embedded(code);
  }
}

const STATEMENT_END = /^[\n;})]$/;
const FIELD_END = /^[,}]$/;
const BARE_END = /^(?:[,\n;}|)]|\|\||&&|->)$/;
