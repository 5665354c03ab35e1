/** Fewer characters of base64 would match ordinary text by accident. */
const MIN_BASE64_CORE = 10;
const MIN_LINE = 24;

/** The ways one secret can appear in text: as it is, and encoded the ways programs commonly encode text. */
export function spellingsOf(value: string): ReadonlySet<string> {
  const spellings = new Set<string>();
  for (const part of [value, ...longLines(value)]) {
    spellings.add(part);
    for (const spelling of [...base64Spellings(part), ...urlSpellings(part), ...escapedSpellings(part)]) {
      spellings.add(spelling);
    }
    const hex = Buffer.from(part).toString("hex");
    spellings.add(hex).add(hex.toUpperCase());
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
