/** A query into a JSON value: the basics of RFC 9535, without functions. */
export interface JsonPath {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** True when it can only ever mean one value: names and indexes, nothing else. */
  readonly singular: boolean;
}

export interface Segment {
  /** `..`: at every depth. */
  readonly deep: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | {
      readonly kind: "slice";
      readonly start?: number | undefined;
      readonly end?: number | undefined;
      readonly step: number;
    }
  | { readonly kind: "filter"; readonly test: Condition };

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Condition =
  | { readonly kind: "or" | "and"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly of: Condition }
  | { readonly kind: "exists"; readonly query: Query }
  | { readonly kind: "compare"; readonly left: Operand; readonly by: Comparison; readonly right: Operand };

/** `@…` begins at the value that is being tested, `$…` at the whole document. */
export interface Query {
  readonly from: "@" | "$";
  readonly path: JsonPath;
}

export type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "query"; readonly query: Query };

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

const LONGEST = 1_000;
const DEEPEST = 20;

/** `$.items[*].name`, `$..price`, `$.list[0:3]`, `$.users[?@.active == true].id`. */
export function parseJsonPath(text: string): Parsed<JsonPath> {
  return attempt(text, (parser) => {
    parser.expect("$");
    return parser.path(text);
  });
}

/** The part between `?` and `]` of a filter, as a text of its own. */
export function parseCondition(text: string): Parsed<Condition> {
  return attempt(text, (parser) => parser.condition(0));
}

/** Every query of a condition, also those inside of others. */
export function queriesOf(condition: Condition): readonly Query[] {
  switch (condition.kind) {
    case "or":
    case "and":
      return condition.parts.flatMap(queriesOf);
    case "not":
      return queriesOf(condition.of);
    case "exists":
      return [condition.query];
    case "compare":
      return [condition.left, condition.right].flatMap((side) => (side.kind === "query" ? [side.query] : []));
  }
}

function attempt<T>(text: string, parse: (parser: Parser) => T): Parsed<T> {
  if (text.length > LONGEST) return { ok: false, message: `it is longer than ${LONGEST} characters` };
  const parser = new Parser(text);
  try {
    const value = parse(parser);
    parser.atEnd();
    return { ok: true, value };
  } catch (error) {
    if (error instanceof PathError) return { ok: false, message: error.message };
    throw error;
  }
}

class PathError extends Error {}

const COMPARISONS: readonly Comparison[] = ["==", "!=", "<=", ">=", "<", ">"];
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.trim();
  }

  path(text: string): JsonPath {
    const segments: Segment[] = [];
    for (let segment = this.#segment(); segment !== undefined; segment = this.#segment())
      segments.push(segment);
    const singular = segments.every(
      ({ deep, selectors }) =>
        !deep && selectors.length === 1 && (selectors[0]?.kind === "name" || selectors[0]?.kind === "index"),
    );
    return { text, segments, singular };
  }

  #segment(): Segment | undefined {
    const deep = this.#take("..");
    if (deep || this.#take(".")) {
      if (this.#take("*")) return { deep, selectors: [{ kind: "all" }] };
      if (deep && this.#peek("[")) return { deep, selectors: this.#bracket() };
      const name = this.#match(/[\p{L}_][\p{L}\p{N}_]*/uy);
      if (name === undefined)
        this.#fail(`a name must follow "${deep ? ".." : "."}"; put other names into ['…']`);
      return { deep, selectors: [{ kind: "name", name }] };
    }
    return this.#peek("[") ? { deep: false, selectors: this.#bracket() } : undefined;
  }

  #bracket(): Selector[] {
    this.expect("[");
    const selectors: Selector[] = [];
    do {
      selectors.push(this.#selector());
      this.#space();
    } while (this.#take(","));
    this.expect("]");
    return selectors;
  }

  #selector(): Selector {
    this.#space();
    if (this.#take("*")) return { kind: "all" };
    if (this.#take("?")) return { kind: "filter", test: this.condition(0) };
    const name = this.#string();
    if (name !== undefined) return { kind: "name", name };
    const start = this.#integer();
    this.#space();
    if (!this.#take(":")) {
      if (start === undefined)
        this.#fail("a name in quotes, a number, a slice, * or a filter must stand here");
      return { kind: "index", index: start };
    }
    const end = this.#integer();
    this.#space();
    const step = this.#take(":") ? (this.#integer() ?? 1) : 1;
    return { kind: "slice", start, end, step };
  }

  condition(depth: number): Condition {
    if (depth > DEEPEST) this.#fail("it is nested too deeply");
    return this.#joined("or", "||", () => this.#joined("and", "&&", () => this.#basic(depth)));
  }

  #joined(kind: "or" | "and", sign: string, next: () => Condition): Condition {
    const first = next();
    const parts = [first];
    for (this.#space(); this.#take(sign); this.#space()) parts.push(next());
    return parts.length === 1 ? first : { kind, parts };
  }

  #basic(depth: number): Condition {
    this.#space();
    if (!this.#peek("!=") && this.#take("!")) return { kind: "not", of: this.#basic(depth + 1) };
    if (this.#take("(")) {
      const inner = this.condition(depth + 1);
      this.expect(")");
      return inner;
    }
    const left = this.#operand();
    this.#space();
    const by = COMPARISONS.find((sign) => this.#take(sign));
    if (by === undefined) {
      if (left.kind === "literal") this.#fail("a value alone is no condition; compare it with something");
      return { kind: "exists", query: left.query };
    }
    const right = this.#operand();
    for (const side of [left, right])
      if (side.kind === "query" && !side.query.path.singular)
        this.#fail("only single values can be compared: names and indexes, no *, slices, filters or ..");
    return { kind: "compare", left, by, right };
  }

  #operand(): Operand {
    this.#space();
    const from = this.#take("@") ? "@" : this.#take("$") ? "$" : undefined;
    if (from !== undefined) {
      const begin = this.#at - 1;
      const path = this.path("");
      return {
        kind: "query",
        query: { from, path: { ...path, text: this.#text.slice(begin, this.#at) } },
      };
    }
    const text = this.#string();
    if (text !== undefined) return { kind: "literal", value: text };
    const number = this.#match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return { kind: "literal", value: Number(number) };
    const word = this.#match(/true\b|false\b|null\b/y);
    if (word !== undefined) return { kind: "literal", value: JSON.parse(word) as boolean | null };
    if (this.#match(/[a-z][a-z_0-9]*\(/y) !== undefined) this.#fail("functions are not supported");
    return this.#fail("a value must stand here: @…, $…, 'text', a number, true, false or null");
  }

  #string(): string | undefined {
    const quote = this.#peek("'") ? "'" : this.#peek('"') ? '"' : undefined;
    if (quote === undefined) return undefined;
    let value = "";
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? "";
      if (char === quote) {
        this.#at += 1;
        return value;
      }
      value += char === "\\" ? this.#escaped() : char;
    }
    return this.#fail("a text in quotes does not end");
  }

  #escaped(): string {
    this.#at += 1;
    const char = this.#text[this.#at] ?? "";
    if (char !== "u") return ESCAPES[char] ?? char;
    const code = this.#text.slice(this.#at + 1, this.#at + 5);
    if (!/^[0-9a-f]{4}$/i.test(code)) this.#fail("four hexadecimal digits must follow \\u");
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  #integer(): number | undefined {
    this.#space();
    const digits = this.#match(/-?\d{1,15}/y);
    return digits === undefined ? undefined : Number(digits);
  }

  expect(sign: string): void {
    this.#space();
    if (!this.#take(sign)) this.#fail(`"${sign}" must stand here`);
  }

  atEnd(): void {
    this.#space();
    if (this.#at < this.#text.length) this.#fail("this does not belong here");
  }

  #space(): void {
    this.#match(/\s*/y);
  }

  #peek(sign: string): boolean {
    return this.#text.startsWith(sign, this.#at);
  }

  #take(sign: string): boolean {
    if (!this.#peek(sign)) return false;
    this.#at += sign.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fail(why: string): never {
    throw new PathError(`${why} (character ${this.#at + 1} of ${JSON.stringify(this.#text)})`);
  }
}
