export const MASK = "[REDACTED]";
const MAX_VALUE = 4_096;

/** Names whose value is a secret whatever it looks like. */
const STRONG =
  "pass(?:word|wd|phrase)|secrets?|pwd|api[_-]?key|client[_-]?secret|secret[_-]?key|private[_-]?key(?:[_-]?id)?|" +
  "secret[_-]?access[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?access[_-]?(?:key|signature)|(?:access|auth|refresh|session|" +
  "security|bearer|id)[_-]?token|credentials?|security[_-]token|x-amz-signature|x-goog-signature";
/** Names that often mean something harmless, so the value has to look like a secret too. */
const WEAK =
  "token|auth(?:orization)?|cred|[_-]key|signature|[_-]pass|jwt|session[_-]?id|sid|x-csrf-token|(?:set-)?cookie";

const ASSIGNMENT = new RegExp(
  `(?:(${STRONG})|(${WEAK}))(?:\\\\{0,3}["'\`\\]]{1,2})?[ \\t]{0,4}(=>|:=|={1,3}|:)[ \\t]{0,4}`,
  "gi",
);
const QUERY_PARAMETER =
  /([?&;](?:amp;)?(?:x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature|hmac|[\w-]{0,40}?(?:token|secret|password|passwd|pwd|api[_-]?key|apikey|jwt)|auth|pass|assertion|samlresponse|otp|session(?:_?id)?|sid|key|code)=)([^&\s"'`<>#;]{1,4096})/gi;
const XML_VALUE = new RegExp(`(<(?:[\\w-]{1,30}:)?[\\w-]{0,30}?(?:${STRONG})>)([^<>\\n]{3,512})(?=</)`, "gi");
const FLAG =
  /((?<![\w-])--?(?:password|passwd|passphrase|pass|pw|token|secret|api-?key|auth-token|access-token|client-secret|private-key)[ \t]{1,4})(["']?)([^\s"'-][^\s"']{2,512})/gi;
const USER_FLAG = /((?<![\w-])(?:-u|--user|--proxy-user)[ \t=]{1,4}["']?[\w.@%+-]{1,128}:)([^\s"']{3,512})/g;
const MYSQL_FLAG =
  /(\b(?:mysql\w{0,12}|mariadb|sshpass)\b[^\n|;&]{0,60}?[ \t]-p[ \t]?)("[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"'-][^\s"']{2,512})/g;
const NETRC = /(\blogin[ \t]{1,4}\S{1,128}[ \t]{1,4}password[ \t]{1,4})(\S{1,512})/g;

const HARMLESS = new Set(
  `yes no true false null none nil undefined empty missing required invalid incorrect wrong expired unknown denied
  failed failure error mismatch unset set not found string str number integer boolean buffer object any bytes
  optional redacted hidden masked unauthorized forbidden ok bad and or the is was must cannot unexpected expected
  bearer basic digest negotiate disabled enabled default given provided supplied revoked rejected rotated
  unsupported malformed absent never unauthenticated anonymous secret password token identifier`.split(/\s+/),
);
const PROSE =
  /\b(?:must|required|should|invalid|incorrect|too|least|not|missing|is|are|cannot|expected|characters?|does|did|was|has|field|please|enter|your|contain|match|for|the)\b/i;

/** Masks values that stand next to a name which says that they are secret: `NAME=value`, `"name": "value"`. */
export function maskAssignments(text: string): string {
  let masked = text;
  if (masked.includes("=")) {
    masked = masked.replace(QUERY_PARAMETER, (whole, name: string, value: string) =>
      isSecretParameter(name, value) ? `${name}${MASK}` : whole,
    );
  }
  if (masked.includes("</")) {
    masked = masked.replace(XML_VALUE, (whole, tag: string, value: string) =>
      isSecret({ value, strong: true, certain: true }) ? `${tag}${MASK}` : whole,
    );
  }
  masked = maskNamedValues(masked);
  if (masked.includes("login")) {
    masked = masked.replace(NETRC, (whole, lead: string, value: string) =>
      isMasked(value) ? whole : lead + MASK,
    );
  }
  if (!masked.includes("-")) return masked;
  return masked
    .replace(FLAG, (whole, flag: string, quote: string, value: string) =>
      isSecret({ value, strong: true, certain: false }) ? `${flag}${quote}${MASK}` : whole,
    )
    .replace(USER_FLAG, (whole, user: string, value: string) => (isMasked(value) ? whole : `${user}${MASK}`))
    .replace(MYSQL_FLAG, (whole, flag: string, value: string) =>
      isMasked(value) || HARMLESS.has(value) ? whole : `${flag}${MASK}`,
    );
}

function isSecretParameter(name: string, value: string): boolean {
  if (isMasked(value)) return false;
  const bare = name
    .replace(/^[?&;](?:amp;)?/, "")
    .slice(0, -1)
    .toLowerCase();
  if (bare === "code" || bare === "key" || bare === "sid" || bare.startsWith("session")) {
    return value.length >= 10 && /\d/.test(value) && /[A-Za-z]/.test(value);
  }
  return !HARMLESS.has(value.toLowerCase());
}

function maskNamedValues(text: string): string {
  let result = "";
  let copied = 0;
  const values = new ValueReader(text);
  ASSIGNMENT.lastIndex = 0;
  for (let name = ASSIGNMENT.exec(text); name !== null; name = ASSIGNMENT.exec(text)) {
    const [whole, strongName, weakName, separator] = name;
    const start = name.index + whole.length;
    const afterScheme = skipScheme(text, start);
    const found = values.at(afterScheme);
    if (found === undefined || isParserToken({ text, weakName, at: name.index })) continue;
    const certain = found.quoted || separator !== ":";
    const isPathVariable = /^pwd$/i.test(strongName ?? "") && /^[A-Za-z]?:?[\\/~]/.test(found.value);
    const isCredential =
      afterScheme > start && /\d|[a-z][A-Z]|=$/.test(found.value) && !isMasked(found.value);
    const secret =
      isCredential || isSecret({ value: found.value, strong: strongName !== undefined, certain });
    if (isPathVariable || !secret) continue;
    if (/cookie$/i.test(weakName ?? "")) {
      const line = lineFrom(text, found.start);
      result += text.slice(copied, found.start) + line.replace(/=[^;\s]{6,}/g, `=${MASK}`);
      copied = found.start + line.length;
    } else {
      result += text.slice(copied, found.start) + MASK;
      copied = found.end;
    }
    ASSIGNMENT.lastIndex = copied;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** "Unexpected token: x1" is what parsers say. */
function isParserToken(name: { text: string; weakName: string | undefined; at: number }): boolean {
  return (
    /^token$/i.test(name.weakName ?? "") &&
    /unexpected $/i.test(name.text.slice(Math.max(0, name.at - 11), name.at))
  );
}

/** In `Authorization: Bearer abc` the word after the name is the scheme, not the secret. */
function skipScheme(text: string, start: number): number {
  const scheme = /^["']?(?:bearer|basic|token|digest|apikey|negotiate|ntlm)[ \t]{1,4}/i.exec(
    text.slice(start, start + 20),
  );
  return scheme === null ? start : start + scheme[0].length;
}

function lineFrom(text: string, start: number): string {
  const end = text.indexOf("\n", start);
  return text.slice(start, Math.min(end < 0 ? text.length : end, start + MAX_VALUE));
}

interface FoundValue {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

// "&name=" and ",name=" begin the next pair; any other "&" or "," may be part of the value.
const BARE_VALUE = /(?:[^\s"'`<>;&,]|[&,](?![\w.-]{1,64}=|\s|$)){1,4096}/y;

/** Reads values; remembers where the last bare one ended, since names inside it share that end. */
class ValueReader {
  readonly #text: string;
  #bareEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  at(start: number): FoundValue | undefined {
    const quote = /^\\{0,3}["'`]/.exec(this.#text.slice(start, start + 4))?.[0];
    return quote === undefined ? this.#bare(start) : this.#quoted(start + quote.length, quote);
  }

  #quoted(start: number, quote: string): FoundValue | undefined {
    const chunk = this.#text.slice(start, start + MAX_VALUE);
    const close = chunk.indexOf(quote);
    const value = close < 0 ? (chunk.split("\n", 1)[0] ?? "") : chunk.slice(0, close);
    return value.includes("\n") ? undefined : { value, start, end: start + value.length, quoted: true };
  }

  #bare(start: number): FoundValue | undefined {
    if (start >= this.#bareEnd) {
      BARE_VALUE.lastIndex = start;
      if (!BARE_VALUE.test(this.#text)) return undefined;
      this.#bareEnd = BARE_VALUE.lastIndex;
    }
    let end = this.#bareEnd;
    while (end > start && ")]}.,:".includes(this.#text.charAt(end - 1))) end -= 1;
    if (end === start) return undefined;
    return { value: this.#text.slice(start, end), start, end, quoted: false };
  }
}

/** `certain`: the form is that of a setting (`=` or quotes), not that of a sentence ("password: rejected"). */
function isSecret({ value, strong, certain }: { value: string; strong: boolean; certain: boolean }): boolean {
  // The beginning tells; names packed into one endless value would otherwise cost a full look each.
  const bare = value.slice(0, 64).trim();
  if (!strong && !looksRandom(bare)) return false;
  if (bare.length < 3 || isMasked(bare) || HARMLESS.has(bare.toLowerCase())) return false;
  if (/^[*•x.\-_]+$/i.test(bare) || isReference(bare) || isPath(bare)) return false;
  if (/\s/.test(bare)) return strong && certain && !PROSE.test(bare);
  if (!strong) return true;
  if (certain) return !/^\d{1,3}$/.test(bare);
  return /\d/.test(bare) ? bare.length >= 4 : mixesCase(bare, 8) || /\w[!@#$%^&*~+]/.test(bare);
}

function looksRandom(value: string): boolean {
  return value.length >= 8 && /[A-Za-z]/.test(value) && (/\d/.test(value) || mixesCase(value, 20));
}

function mixesCase(value: string, least: number): boolean {
  return value.length >= least && /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value);
}

/** Names a place where the secret is kept: `$TOKEN`, `${TOKEN}`, `{{token}}`, `process.env.TOKEN`, `<token>`. */
function isReference(value: string): boolean {
  return (
    /^(?:\$\{?[A-Z_][A-Z0-9_]*\}?|%[A-Z_][A-Z0-9_]*%|\$\{\{.*|\{\{.*|<.*>)$/.test(value) ||
    /^(?:process\.env|os\.environ|env|secrets|vault|config)\b[.[(:]/i.test(value) ||
    /^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(value)
  );
}

function isPath(value: string): boolean {
  return (
    /^(?:[A-Za-z]:\\|~\/|\.{1,2}\/)/.test(value) ||
    /^\/(?:etc|var|run|home|usr|tmp|opt|app|root|mnt|srv|Users|proc|dev|data|secrets?)\//.test(value)
  );
}

export function isMasked(value: string): boolean {
  return value.startsWith("[REDACTED");
}
