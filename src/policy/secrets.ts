import { maskUnmistakable } from "../tool/secret-patterns.js";
import { type Literal, LiteralSearch } from "./literal-search.js";
import { spellingsOf } from "./secret-spellings.js";

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

/** Names that carry a secret word but hold a place, a count or a switch. */
const PLACE_SUFFIX =
  /(?:^|_)(?:SOCK|PATH|FILE|DIR|DIRECTORY|HOME|ID|NAME|TYPE|METHOD|MODE|PROVIDER|HOST|PORT|COUNT|LIMIT|MAX|TTL|PARALLELISM)$/;

/**
 * The secrets this runtime knows by value. `redact` masks them wherever they appear on the way to a model,
 * a log or the journal; it is never applied to data that goes back into a file.
 */
export class SecretRegistry {
  readonly #values = new Map<string, string>();
  readonly #masked = new Map<string, string>();
  #search: LiteralSearch | undefined;
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
    return this.patterns && known.length <= LONGEST_FOR_PATTERNS ? maskUnmistakable(known) : known;
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

  #mask(name: string, value: string): void {
    const trimmed = value.trim();
    if (trimmed.length < MIN_LENGTH || isCommon(trimmed) || this.#masked.has(trimmed)) return;
    this.#masked.set(trimmed, name);
    this.#search = undefined;
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
