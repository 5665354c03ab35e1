import { maskUnmistakable } from "../tool/secret-patterns.js";
import { DisguisedSearch } from "./disguised-secrets.js";
import { type Literal, LiteralSearch } from "./literal-search.js";

const MIN_LENGTH = 8;
/** Looking for forms costs more than looking for values; what is longer is cut before a model sees it. */
const LONGEST_FOR_PATTERNS = 256 * 1024;
const PLAIN_LABEL = "[REDACTED]";

/** Values that would turn ordinary text into noise if they were masked. */
const COMMON_VALUES = new Set(
  `anonymous changeme password passw0rd secret12 username undefined disabled enabled required optional default
  development production staging localhost localhost:3000 localhost:8080 127.0.0.1 postgres postgresql
  administrator 12345678 123456789 1234567890 /bin/bash /usr/bin /usr/local /dev/null application
  keychain password123 http://localhost https://localhost`.split(/\s+/),
);

const SECRET_WORDS = new Set(
  `KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASS PASSPHRASE CREDENTIAL CREDENTIALS
  CREDS AUTH COOKIE PAT JWT DSN SIGNATURE WEBHOOK`.split(/\s+/),
);

/** Names that carry a secret word but hold a place, a count, a switch or the name of a variable. */
const PLACE_SUFFIX =
  /(?:^|_)(?:SOCK|PATH|FILE|DIR|DIRECTORY|HOME|ID|NAME|TYPE|METHOD|MODE|PROVIDER|HOST|PORT|COUNT|LIMIT|MAX|TTL|PARALLELISM|ENV)$/;

/**
 * The secrets this runtime knows by value. `redact` masks them wherever they appear on the way to a model,
 * a log or the journal; it is never applied to data that goes back into a file.
 */
export class SecretRegistry {
  readonly #values = new Map<string, string>();
  readonly #masked = new Map<string, string>();
  #search: LiteralSearch | undefined;
  #disguised: DisguisedSearch | undefined;
  /** Also mask what looks like a credential although nobody told us of it. */
  patterns = true;

  /** How many values are masked. */
  get size(): number {
    return this.#masked.size;
  }

  /** A short or very common value stays readable through `get` but is not masked. */
  add(name: string, value: string): void {
    this.#values.set(name, value);
    this.#mask(name, value);
    const password = urlPassword(value);
    if (password !== undefined) this.#mask(name, password);
  }

  addFromEnv(env: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || value === "") continue;
      if (namesSecret(name)) this.add(name, value);
      const password = urlPassword(value);
      if (password !== undefined) this.#mask(name, password);
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** The same string object when nothing matched. */
  redact(text: string): string {
    const known = this.#redactKnown(text);
    if (known.length > LONGEST_FOR_PATTERNS) return known;
    const plain = this.#redactDisguised(known);
    return this.patterns ? maskUnmistakable(plain) : plain;
  }

  #redactKnown(text: string): string {
    if (this.#masked.size === 0 || text.length < MIN_LENGTH) return text;
    this.#search ??= new LiteralSearch(this.#literals());
    // A mask and the text beside it can by chance spell another secret, so look until nothing is found.
    let current = text;
    for (let pass = 0; pass < 8; pass++) {
      const next = this.#search.replaceAll(current);
      if (next === current) return current;
      current = next;
    }
    return current;
  }

  #redactDisguised(text: string): string {
    if (this.#masked.size === 0) return text;
    this.#disguised ??= new DisguisedSearch(
      new Map([...this.#masked].map(([value, name]) => [value, `[REDACTED:${name}]`])),
    );
    return this.#disguised.mask(text);
  }

  #mask(name: string, value: string): void {
    const trimmed = value.trim();
    if (trimmed.length < MIN_LENGTH || isCommon(trimmed) || this.#masked.has(trimmed)) return;
    this.#masked.set(trimmed, name);
    this.#search = undefined;
    this.#disguised = undefined;
  }

  #literals(): Literal[] {
    const spelled = new Map<string, string>();
    for (const [value, name] of this.#masked) {
      for (const spelling of spellingsOf(value)) {
        if (spelling.length >= MIN_LENGTH && !spelled.has(spelling)) spelled.set(spelling, name);
      }
    }
    // A label must not bring a masked value back into the text.
    const unsafe = new LiteralSearch([...spelled.keys()].map((text) => ({ text, replacement: "" })));
    return [...spelled].map(([text, name]) => {
      const label = `[REDACTED:${name}]`;
      return { text, replacement: unsafe.replaceAll(label) === label ? label : PLAIN_LABEL };
    });
  }
}

function isCommon(value: string): boolean {
  const lower = value.toLowerCase();
  return COMMON_VALUES.has(lower) || /^(.)\1*$/s.test(value) || PLAIN_LABEL.includes(value);
}

/** Whether an environment variable of this name holds a secret. */
export function namesSecret(name: string): boolean {
  const upper = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
  if (PLACE_SUFFIX.test(upper) && !/(?:KEY_ID|SECRET_ID)$/.test(upper)) return false;
  if (upper === "XAUTHORITY" || /^(?:MAX|NUM|MIN)_.*TOKENS$/.test(upper)) return false;
  if (/(?:APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PWD)$/.test(upper)) return true;
  return upper.split(/[^A-Z0-9]+/).some((word) => SECRET_WORDS.has(word));
}

function urlPassword(value: string): string | undefined {
  if (!value.includes("://") || value.length > 4_096) return undefined;
  const written = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i.exec(value.trim())?.[1];
  return written;
}

/** Fewer characters of base64 would match ordinary text by accident. */
const MIN_BASE64_CORE = 10;
const MIN_LINE = 24;
/** A short word backwards may be another word. */
const MIN_REVERSED = 12;

/** The ways one secret can appear in text: as it is, and encoded the ways programs commonly encode text. */
function spellingsOf(value: string): ReadonlySet<string> {
  const spellings = new Set<string>();
  for (const part of [value, ...longLines(value)]) {
    spellings.add(part);
    for (const spelling of [...base64Spellings(part), ...urlSpellings(part), ...escapedSpellings(part)]) {
      spellings.add(spelling);
    }
    const hex = Buffer.from(part).toString("hex");
    spellings.add(hex).add(hex.toUpperCase());
    if (part.length >= MIN_REVERSED) spellings.add([...part].reverse().join(""));
  }
  return spellings;
}

/** A key of many lines is often printed line by line, indented or quoted. */
function longLines(value: string): string[] {
  if (!value.includes("\n")) return [];
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE && !line.startsWith("-----"));
}

/**
 * Base64 of the value alone, and the part of it that stays the same when the value is encoded together with
 * something before it ("user:" in a Basic header), which shifts it by one or two bytes.
 */
function base64Spellings(value: string): string[] {
  const found: string[] = [];
  for (let before = 0; before < 3; before++) {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const encoded = bytes.toString("base64").replace(/=+$/, "");
    const unsureAtStart = before === 0 ? 0 : before + 1;
    const unsureAtEnd = bytes.length % 3 === 0 ? 0 : 1;
    const core = encoded.slice(unsureAtStart, encoded.length - unsureAtEnd);
    if (core.length >= MIN_BASE64_CORE) found.push(core, urlSafe(core));
    if (before === 0) {
      const padded = bytes.toString("base64");
      found.push(padded, urlSafe(padded), encoded, urlSafe(encoded));
    }
  }
  return found;
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}

/** Most keys are spelled with these only, and every encoding below leaves them alone. */
const PLAIN = /^[\w.~-]*$/;

function urlSpellings(value: string): string[] {
  if (PLAIN.test(value)) return [];
  // Lone surrogates make the encoders throw.
  const wellFormed = value.replace(/\p{Surrogate}/gu, "\ufffd");
  const encoded = encodeURIComponent(wellFormed);
  const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll("%20", "+");
  const component = [encoded, strict, form, encodeURI(wellFormed)];
  const twice = component.map((text) => text.replaceAll("%", "%25"));
  return [...component, ...component.map(lowerEscapes), ...twice];
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function escapedSpellings(value: string): string[] {
  if (PLAIN.test(value)) return [];
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const html = value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
  return [
    json,
    ascii,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    JSON.stringify(ascii).slice(1, -1),
    html,
    html.replaceAll("&#39;", "&#x27;"),
    value.replaceAll("'", "'\\''"),
    value.replaceAll("\\", "\\\\").replaceAll("'", "\\'"),
  ];
}
