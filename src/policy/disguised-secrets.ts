import { type Literal, LiteralSearch } from "./literal-search.js";

/**
 * Finds random values in disguise: backwards, as hex or base64, with line ends, blanks or quotes between the
 * characters, and runs of them such as a dump prints line by line. Words of a language are no such values: a part of
 * one stands in ordinary text.
 *
 * Every form is cut into blocks. A run of it that is long enough holds a whole block, which is looked for in the text
 * without its separators; from there the run is followed to both sides.
 */
export class DisguisedSearch {
  readonly #search: LiteralSearch | undefined;
  readonly #blocks = new Map<string, Block[]>();

  constructor(secrets: ReadonlyMap<string, string>) {
    const random = [...secrets].filter(([value]) => isRandom(value)).slice(0, MOST_SECRETS);
    for (const [value, label] of random) for (const form of formsOf(value)) this.#index(form, label);
    const literals = [...this.#blocks.keys()].map((text): Literal => ({ text, replacement: "" }));
    if (literals.length > 0) this.#search = new LiteralSearch(literals);
  }

  #index(form: string, label: string): void {
    for (let at = 0; at + BLOCK <= form.length; at += BLOCK) {
      const text = form.slice(at, at + BLOCK);
      const same = this.#blocks.get(text);
      if (same === undefined) this.#blocks.set(text, [{ form, at, label }]);
      else if (same.length < MOST_SHARING) same.push({ form, at, label });
    }
  }

  /** The same string object when nothing was found. */
  mask(text: string): string {
    if (this.#search === undefined || text.length < SHORTEST_RUN) return text;
    const dense = squeeze(text);
    const runs: Run[] = [];
    this.#search.each(dense, (start, found) => {
      const run = this.#longestRun(dense, { start, block: found.text });
      if (run !== undefined) runs.push(run);
      return run?.end;
    });
    if (runs.length === 0) return text;
    const places = new Uint32Array(text.length);
    squeeze(text, places);
    return replaced(text, { runs, places });
  }

  #longestRun(text: string, found: { readonly start: number; readonly block: string }): Run | undefined {
    let best: Run | undefined;
    for (const { form, at, label } of this.#blocks.get(found.block) ?? []) {
      let [start, from] = [found.start, at];
      while (start > 0 && from > 0 && text[start - 1] === form[from - 1])
        [start, from] = [start - 1, from - 1];
      let [end, to] = [found.start + BLOCK, at + BLOCK];
      while (end < text.length && to < form.length && text[end] === form[to]) [end, to] = [end + 1, to + 1];
      if (end - start >= SHORTEST_RUN && end - start > (best === undefined ? 0 : best.end - best.start))
        best = { start, end, label };
    }
    return best;
  }
}

interface Block {
  readonly form: string;
  readonly at: number;
  readonly label: string;
}

interface Run {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

const BLOCK = 8;
/** Fewer characters in a row come about by chance, and give nothing away. */
const SHORTEST_RUN = 12;
const SHORTEST_VALUE = 20;
const SHORTEST_OF_LETTERS = 32;
const LONGEST_VALUE = 8_192;
const MOST_SECRETS = 256;
const MOST_SHARING = 8;

/** Whether a value looks drawn at random: letters, digits and cases change all the time. */
function isRandom(value: string): boolean {
  if (value.length < SHORTEST_VALUE || value.length > LONGEST_VALUE || value.includes("://")) return false;
  if (value.includes("-----BEGIN")) return true;
  if (!/^[\w+/=.~-]+$/.test(value)) return false;
  const kinds = [...value].map(kindOf).filter((kind) => kind !== SEPARATOR);
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
  // Of a thousand tokens one is drawn without a digit; shorter than that, it is rather words written together.
  if (!/\d/.test(value)) return value.length >= SHORTEST_OF_LETTERS && changes >= kinds.length / 3;
  return changes >= kinds.length / 4;
}

const SEPARATOR = 0;

function kindOf(char: string): number {
  return /[0-9]/.test(char) ? 1 : /[A-Z]/.test(char) ? 2 : /[a-z]/.test(char) ? 3 : SEPARATOR;
}

function formsOf(value: string): ReadonlySet<string> {
  // The first and last line of a key are the same for all keys.
  const bare = value.replace(/-----[^-]*-----/g, "").replace(/\s+/g, "");
  const bytes = Buffer.from(bare);
  const hex = bytes.toString("hex");
  const swapped = hex.replace(/(..)(..)/g, "$2$1");
  const forms = new Set([bare, hex, hex.toUpperCase(), swapped]);
  for (let before = 0; before < 3; before++) {
    // What stands beside the value changes the characters at both ends.
    const base64 = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const core = base64.slice(before === 0 ? 0 : before + 1, -1);
    forms.add(core).add(core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  for (const form of [...forms]) forms.add([...form].reverse().join(""));
  forms.add(hex.match(/../g)?.reverse().join("") ?? "");
  return forms;
}

/**
 * The text without what programs put between characters: blanks, line ends (also as `\n`, which is how a result as JSON
 * has them), quotes, colons, commas, `\x`, `0x`. What is not ASCII stands in no form of a value. `places` is filled with
 * where each character that is left stands in the whole text.
 */
function squeeze(text: string, places?: Uint32Array): string {
  // One for all texts: a text put together from its words costs many times its own size.
  if (scratch.length < text.length) scratch = Buffer.allocUnsafeSlow(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 128 && SEPARATES[code] === 1) {
      if (code === BACKSLASH && isEscaped(text.charCodeAt(at + 1))) at++;
    } else if (code === ZERO && text.charCodeAt(at + 1) === SMALL_X) at++;
    else {
      if (places !== undefined) places[length] = at;
      scratch[length++] = code < 128 ? code : NOT_ASCII;
    }
  }
  return scratch.toString("latin1", 0, length);
}

let scratch = Buffer.allocUnsafeSlow(4_096);

/** Of `\x`, `\n`, `\r`, `\t` the second character. */
function isEscaped(code: number): boolean {
  return code === SMALL_X || code === 110 || code === 114 || code === 116;
}

const BACKSLASH = 92;
const ZERO = 48;
const SMALL_X = 120;
const NOT_ASCII = 1;
const SEPARATES = new Uint8Array(128);
for (const char of " \t\r\n\v\f:,;|\"'`[](){}<>\\&*#$%!?") SEPARATES[char.charCodeAt(0)] = 1;

function replaced(
  text: string,
  { runs, places }: { readonly runs: readonly Run[]; readonly places: Uint32Array },
): string {
  let result = "";
  let copied = 0;
  for (const { start, end, label } of runs) {
    const first = places[start] ?? 0;
    const after = (places[end - 1] ?? first) + 1;
    if (after <= copied) continue;
    result += `${text.slice(copied, Math.max(copied, first))}${label}`;
    copied = after;
  }
  return result + text.slice(copied);
}
