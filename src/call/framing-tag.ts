import { classifyName, foldTagName, isFramingBesideBar, isFramingNamespace } from "./framing-names.js";

export type Verdict =
  | { readonly kind: "keep" | "remove" }
  /** Take the opening bracket and so many characters behind it. */
  | { readonly kind: "drop-opener"; readonly chars: number };

export interface TagContext {
  readonly text: string;
  /** Whether a closing tag of a name occurs, remembered per name. */
  readonly closings: Map<string, boolean>;
}

interface Candidate {
  /** What stands between the brackets. */
  readonly inner: string;
  /** False when no closing bracket follows. */
  readonly closed: boolean;
  /** Where the opening bracket is. */
  readonly start: number;
  readonly context: TagContext;
}

const KEEP: Verdict = { kind: "keep" };
const REMOVE: Verdict = { kind: "remove" };
const DROP_OPENER: Verdict = { kind: "drop-opener", chars: 0 };

const TAG = /^([\s|/\\]{0,12})(?:dsml\|)?(?:([a-z][\w-]{0,30}):)?([\p{L}\p{N}\p{Pc}\p{Pd}▁.]{1,80})/iu;
const ATTRIBUTES = /^(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))+\s*[/|]?\s*$/;
const QUOTED_ATTRIBUTES = /^(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))+\s*\/?\s*$/;
const HTML_INPUT =
  /\s(?:type|id|class|value|placeholder|checked|disabled|autocomplete|aria-[a-z]+|data-[a-z-]+)\b/i;
const PASCAL_CASE = /^(?:[A-Z][a-z0-9]+)+$/;
/** Shortly behind these words `<input>` is a placeholder for an argument. */
const USAGE = /\b(?:usage|arguments?|options?|syntax|synopsis|expects?)\b/i;
const FLAG = /(?:^|\s)--?[a-z]/i;
const ROLE = new Set(["system", "assistant", "human", "ai", "developer"]);

export function judgeTag(candidate: Candidate): Verdict {
  const { closed } = candidate;
  const rawCdata = /^\s{0,8}!\s{0,8}\[\s{0,8}CDATA\s{0,8}\[?/i.exec(candidate.inner);
  if (rawCdata !== null) return { kind: "drop-opener", chars: rawCdata[0].length };
  const inner = decodeDelimited(candidate.inner);
  if (/^\s{0,8}!\s{0,8}\[\s{0,8}cdata/i.test(inner)) return DROP_OPENER;

  const tag = TAG.exec(inner);
  if (tag === null) return KEEP;
  const [whole, lead = "", namespace = "", name = ""] = tag;
  const rest = inner.slice(whole.length);
  const key = foldTagName(name);
  const found = closed ? REMOVE : DROP_OPENER;

  if (namespace !== "" && isFramingNamespace(namespace.toLowerCase())) return found;
  if (/dsml/i.test(whole.slice(0, whole.length - name.length))) return found;
  if (isBarred({ lead, rest, key })) return found;

  const nameClass = isSpacedName(name, rest) ? "unmistakable" : classifyName(key);
  if (nameClass === "ordinary") return KEEP;
  if (isTypeArgument({ name, lead, rest, candidate })) return KEEP;
  if (nameClass === "unmistakable") return found;
  if (!closed || namespace !== "") return KEEP;
  return isAmbiguousFraming({ key, name, lead, rest, candidate }) ? REMOVE : KEEP;
}

/** `<|anything|>` is a control token of some chat template; with one bar only or with spaces, known names are. */
function isBarred({ lead, rest, key }: { lead: string; rest: string; key: string }): boolean {
  const barBefore = lead.includes("|");
  const barAfter = /\|\s*$/.test(rest);
  if (barBefore && barAfter && !/\s/.test(lead + rest)) return true;
  return (barBefore || barAfter) && isFramingBesideBar(key);
}

/** `<tool call>`. */
function isSpacedName(name: string, rest: string): boolean {
  return /^[\s\w]{1,40}$/.test(rest) && classifyName(foldTagName(name + rest)) === "unmistakable";
}

interface Parsed {
  readonly name: string;
  readonly lead: string;
  readonly rest: string;
  readonly candidate: Candidate;
}

/** `Promise<Response>`, `Vec<ToolCall>`: a capitalised name right behind an identifier, never closed. */
function isTypeArgument({ name, lead, rest, candidate }: Parsed): boolean {
  if (lead !== "" || !/^(?:\[\])?$/.test(rest) || !PASCAL_CASE.test(name)) return false;
  const { text } = candidate.context;
  const before = text.slice(Math.max(0, candidate.start - 2), candidate.start);
  return /[\w$]$|::$/.test(before) && !hasClosing(name, candidate.context);
}

function isAmbiguousFraming(parsed: Parsed & { key: string }): boolean {
  const { key, name, lead, rest, candidate } = parsed;
  if (rest.startsWith("=")) return true;
  const isBare = /^\s*[/|]?\s*$/.test(rest);
  if (lead.includes("/")) return isBare;
  if (isBare) return !isOrdinaryBare(parsed);
  if (!ATTRIBUTES.test(rest)) return /^\s/.test(rest) && hasClosing(name, candidate.context);
  if (key === "input" && HTML_INPUT.test(rest) && !hasClosing(name, candidate.context)) return false;
  // `<Response status=404>` is how objects print themselves.
  return !PASCAL_CASE.test(name) || QUOTED_ATTRIBUTES.test(rest);
}

function isOrdinaryBare({ key, name, candidate }: Parsed & { key: string }): boolean {
  if (ROLE.has(key)) return false;
  const { text } = candidate.context;
  const before = text.slice(Math.max(0, candidate.start - 160), candidate.start);
  if (key === "s") return /[\w$]$/.test(before);
  if (key === "input" && before.endsWith('File "')) return true;
  if (hasClosing(name, candidate.context)) return false;
  const isJoined = text.startsWith("@<", candidate.start + candidate.inner.length + 2);
  return isJoined || USAGE.test(before) || FLAG.test(before.slice(before.lastIndexOf("\n") + 1));
}

const CLOSING_LEAD = "(?:[<＜﹤‹⟨〈❮]|lt;|60;|3c;?)[\\s|\\\\]{0,8}(?:/|／|&#47;|&sol;|%2f)\\s{0,8}";

function hasClosing(name: string, context: TagContext): boolean {
  const wanted = name.toLowerCase();
  const known = context.closings.get(wanted);
  if (known !== undefined) return known;
  const letters = wanted.replace(/[^a-z0-9]/g, "\\W?");
  const found = new RegExp(`${CLOSING_LEAD}${letters}\\b`, "i").test(context.text);
  context.closings.set(wanted, found);
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lowbar: "_",
  sol: "/",
  bsol: "\\",
  vert: "|",
  verbar: "|",
  vbar: "|",
  equals: "=",
  quot: '"',
  apos: "'",
  colon: ":",
  hyphen: "-",
  dash: "-",
  nbsp: " ",
  tab: " ",
  newline: " ",
  zerowidthspace: "",
  shy: "",
  zwj: "",
  zwnj: "",
};

/** The plain letters behind HTML, JSON and URL escapes, full-width forms and invisible characters. */
function decodeDelimited(inner: string): string {
  if (/^[^&%\\\x80-\uffff]*$/.test(inner)) return inner;
  return inner
    .replace(/(?:&amp;)/gi, "&")
    .replace(
      /&#(?:x([0-9a-f]{1,6})|0{0,6}([0-9]{1,7}));?/gi,
      (whole, hex: string | undefined, dec: string | undefined) =>
        fromCode(whole, hex === undefined ? Number.parseInt(dec ?? "", 10) : Number.parseInt(hex, 16)),
    )
    .replace(/&([a-z]{2,14});/gi, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .replace(/\\(?:u00|x)([0-7][0-9a-f])/gi, (whole, hex: string) =>
      fromCode(whole, Number.parseInt(hex, 16)),
    )
    .replace(/%(?:25){0,3}([2-7][0-9a-f])/gi, (whole, hex: string) =>
      fromCode(whole, Number.parseInt(hex, 16)),
    )
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

function fromCode(whole: string, code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
