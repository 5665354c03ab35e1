import { isMasked, MASK, maskAssignments } from "./secret-assignments.js";
import { maskContinued, maskWrapped } from "./wrapped-secrets.js";

/**
 * Tokens that vendors made recognisable. Every entry is a prefix and a run of at least so many characters
 * with nothing required behind it: a failed attempt is then short, and a match is consumed, which keeps the
 * whole scan linear on any input.
 */
const TOKENS: readonly string[] = [
  // Model vendors
  "sk-(?:ant|proj|or|svcacct|admin|lf|None)-[\\w-]{8,}",
  // Some of these prefixes also begin ordinary identifiers ("hf_hub_download"), which go on with a "_".
  "(?:gsk_|xai-|r8_|hf_|pplx-|fw_|jina_|csk-)[A-Za-z0-9]{16,}",
  "(?:tvly-|nvapi-|tgp_v1_|lsv2_(?:pt|sk)_)[\\w-]{16,}",
  "sk_[0-9a-f]{32,}",
  // Source forges and package registries
  "gh[pousr]_[A-Za-z0-9_]{16,}",
  "github_pat_\\w{16,}",
  "gl(?:pat|ptt|dt|rt|ft|cbt|soat|agent|imt|oas|ffct)-[\\w.-]{16,}",
  "GR1348941[\\w-]{16,}",
  "(?:npm_|rubygems_|ATBB|sgp_)[A-Za-z0-9]{16,}",
  "pypi-(?:Ag[\\w-]{12,}|[\\w-]{40,})",
  "(?:dckr_pat_|ATATT3|ATCTT3|CCIPAT_)[\\w=-]{16,}",
  "oy2[a-z0-9]{43}",
  // Chat
  "xox[abceoprs](?:\\.xox[bp])?-[\\w-]{8,}",
  "xapp-\\d[\\w-]{12,}",
  "mfa\\.[\\w-]{20,}",
  // Payments and mail
  "(?:sk|rk)_(?:live|test|prod)_[\\w-]{8,}",
  "whsec_[\\w+/=-]{8,}",
  "(?:rzp_live_|sq0[a-z]{3}-|EAAA[\\w-]{28}|FLWSECK-|shippo_live_)[\\w-]{12,}",
  "access_token\\$(?:production|sandbox)\\$[\\w$]{16,}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
  "xkeysib-[\\w-]{16,}",
  "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",
  "key-[0-9a-f]{32}",
  "(?:SK|AC)[0-9a-f]{32}",
  // Clouds
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}",
  "AIza[\\w-]{30,}",
  "ya29\\.[\\w.-]{16,}",
  "GOCSPX-[\\w-]{16,}",
  "1//0[\\w-]{20,}",
  "AAAA[\\w-]{7}:[\\w-]{60,}",
  "(?:LTAI|AKID)[A-Za-z0-9]{12,}",
  "do[opr]_v1_[0-9a-f]{16,}",
  "(?:dapi|dkea)[0-9a-f]{32}",
  "sha256~[\\w-]{40,}",
  "FlyV1 fm\\d_[\\w+/=,-]{16,}",
  "fm\\d_[\\w+/=-]{16,}",
  // Vaults and secret stores
  "hv[sbr]\\.[\\w-]{16,}",
  "dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{16,}",
  "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
  "ops_eyJ[\\w-]{16,}",
  "tskey-[\\w-]{12,}",
  // Web applications
  "shp(?:at|ss|ca|pa|tka)_[\\w-]{16,}",
  "(?:ntn_|glc_|sbp_|nfp_|vcp_)[A-Za-z0-9]{12,}",
  "(?:lin_api_|lin_oauth_|figd_|PMAK-|glsa_|NRAK-|NRII-|sntrys_|sntryu_|sb_secret_)[\\w+/=-]{12,}",
  "pscale_(?:tkn|pw|oauth)_[\\w.-]{16,}",
  "secret_[A-Za-z0-9]{40,}",
  "pat[A-Za-z0-9]{14}\\.[0-9a-f]{32,}",
  "pul-[0-9a-f]{40}",
  "EAA[A-Za-z0-9]{60,}",
  "sl\\.(?:u\\.)?[\\w-]{60,}",
];

const VENDOR_TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.join("|")})`, "g");
/** Tokens that are recognised by a mark in the middle: only worth a look when the mark is there. */
const MARKED_TOKENS: readonly { readonly mark: string; readonly pattern: RegExp }[] = [
  { mark: "-us", pattern: /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\d)/g },
  { mark: "Q~", pattern: /(?<![A-Za-z0-9])[\w~.-]{3}\dQ~[\w~.-]{30,}/g },
  { mark: "JQQJ99", pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}/g },
  { mark: ".atlasv1.", pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}/g },
];
const GENERIC_SK = /(?<![A-Za-z0-9])sk-[\w-]{12,}/g;
const JWT = /(?<![\w-])eyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*){0,3}/g;
const DISCORD_TOKEN = /(?<![\w-])([MNO][\w-]{17,30})\.[\w-]{5,8}\.([\w-]{25,})/g;
const TELEGRAM_TOKEN = /(?<!\d)\d{6,12}:([A-Za-z0-9_-]{30,})/g;
const WEBHOOK =
  /((?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks|[\w.-]{1,80}\.office\.com\/webhook\w?)\/)[\w/@.-]{8,}/g;
const AUTH_SCHEME =
  /\b(Bearer|Basic|Token|ApiKey|Api-Key|Negotiate|NTLM|DPoP)([ \t]{1,4})([\w.~+/-]{6,}={0,2})(?![\w="'~+/[])/gi;
const URL_PASSWORD = /([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"'`<>]{0,256}):([^\s/"'`<>]{1,512})@/gi;
const URL_USER_TOKEN = /(:\/\/)([\w.~%+-]{20,512})@/g;
const GO_DSN = /(?<![\w.-])([\w.-]{1,64}):([^\s@:/"']{1,128})@(?=(?:tcp|unix|udp)\()/g;
const AWS_KEY_ID = /(?:AKIA|ASIA)[A-Z0-9]{16}/;
const AWS_SECRET = /(?<![A-Za-z0-9/+=_.-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])/g;
const TWILIO_ACCOUNT = /(?<![A-Za-z0-9])(AC[0-9a-f]{32})([^\n]{1,80}?)(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g;

/** What has a form of its own as a whole, but not in its first half. */
const WRAPPABLE = [
  VENDOR_TOKEN,
  JWT,
  DISCORD_TOKEN,
  TELEGRAM_TOKEN,
  ...MARKED_TOKENS.map(({ pattern }) => pattern),
];

/**
 * Masks what looks like a credential by its form: vendor tokens, private keys, authorisation headers,
 * passwords inside URLs, and values assigned to a name that says "secret". Hashes, ids and prose stay.
 */
export function maskVendorSecrets(text: string): string {
  if (text.length < 6) return text;
  let masked = maskPrivateKeys(text);
  if (masked.includes("\n")) for (const form of WRAPPABLE) masked = maskWrapped(masked, form);
  if (masked.includes("://")) {
    masked = masked
      .replace(WEBHOOK, `$1${MASK}`)
      .replace(URL_PASSWORD, (whole, user: string, password: string) =>
        isMasked(password) ? whole : `${user}:${MASK}@`,
      )
      .replace(URL_USER_TOKEN, (whole, slashes: string, token: string) =>
        /\d/.test(token) ? `${slashes}${MASK}@` : whole,
      );
  }
  // The neighbours of an account id can only be recognised while the id is still there.
  if (AWS_KEY_ID.test(masked))
    masked = masked.replace(AWS_SECRET, (token) => (isMixed(token) ? MASK : token));
  for (const { mark, pattern } of MARKED_TOKENS) {
    if (masked.includes(mark)) masked = masked.replace(pattern, MASK);
  }
  masked = masked
    .replace(TWILIO_ACCOUNT, `${MASK}$2${MASK}`)
    .replace(JWT, MASK)
    .replace(DISCORD_TOKEN, (token, user: string, key: string) =>
      // Qualified names have the same shape, but hardly digits in both parts.
      /\d/.test(user) && /\d/.test(key) ? MASK : token,
    )
    .replace(VENDOR_TOKEN, MASK)
    .replace(GENERIC_SK, (token) => (isKeyShaped(token) ? MASK : token))
    .replace(TELEGRAM_TOKEN, (token, key: string) =>
      /^AA|[A-Z].*\d|\d.*[A-Z]/.test(key) && !/^[0-9a-f-]+$/i.test(key) ? MASK : token,
    )
    .replace(GO_DSN, `$1:${MASK}@`)
    .replace(AUTH_SCHEME, (whole, scheme: string, gap: string, value: string) =>
      looksRandom(value) ? `${scheme}${gap}${MASK}` : whole,
    );
  masked = maskAssignments(masked);
  return masked.includes("\n") ? maskContinued(masked) : masked;
}

/**
 * Masks only what is recognisable beyond doubt: vendor tokens, private keys, passwords in URLs. For results,
 * journal and logs, where a hash or a word taken for a secret would do more harm than good.
 */
export function maskUnmistakable(text: string): string {
  if (text.length < 20) return text;
  let masked = text.includes("PRIVATE KEY") ? maskPrivateKeys(text) : text;
  if (masked.includes("://")) {
    masked = masked
      .replace(WEBHOOK, `$1${MASK}`)
      .replace(URL_PASSWORD, (whole, user: string, password: string) =>
        isMasked(password) || !/[\w-]{6}/.test(password) ? whole : `${user}:${MASK}@`,
      );
  }
  if (masked.includes("eyJ")) masked = masked.replace(JWT, (token) => (token.length >= 40 ? MASK : token));
  return masked.replace(VENDOR_TOKEN, MASK);
}

/** Package and class names are spelled like this too ("sk-learn-contrib"), but not with random parts. */
function isKeyShaped(token: string): boolean {
  const rest = token.slice(3);
  return isMixed(rest) || rest.split(/[-_]/).some((part) => part.length >= 12 && /[\dA-Z]/.test(part));
}

function isMixed(token: string): boolean {
  return /[a-z]/.test(token) && /[A-Z]/.test(token) && /[0-9/+]/.test(token);
}

/** A word of prose has no digits inside, no capitals after the first letter, and no padding. */
function looksRandom(value: string): boolean {
  return /\d/.test(value) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value) || /=$/.test(value) || value.length >= 32;
}

const MASKED_KEY = "[REDACTED PRIVATE KEY]";
const HEADER = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const FOOTER = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
/** What stands between header and footer: base64, line ends also in their escaped form, and header fields. */
const BODY_CHAR = /[A-Za-z0-9+/=\s\\:,-]/;

/**
 * Masks private keys in PEM form, also where only the beginning or only the end is in the text. Written as
 * a scan because "header, anything, footer" as one expression is quadratic when footers are missing.
 */
function maskPrivateKeys(text: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  const headers = [...text.matchAll(HEADER)];
  const footers = [...text.matchAll(FOOTER)];
  let result = "";
  let copied = 0;
  let nextFooter = 0;
  for (const header of headers) {
    if (header.index < copied) continue;
    const bodyStart = header.index + header[0].length;
    nextFooter = maskStrayFooters({ from: nextFooter, before: header.index });
    const footer = footers[nextFooter];
    result += text.slice(copied, header.index) + MASKED_KEY;
    if (footer === undefined) copied = bodyEnd(text, bodyStart);
    else {
      copied = footer.index + footer[0].length;
      nextFooter += 1;
    }
  }
  maskStrayFooters({ from: nextFooter, before: text.length });
  return result + text.slice(copied);

  function maskStrayFooters({ from, before }: { from: number; before: number }): number {
    let index = from;
    for (; index < footers.length; index++) {
      const footer = footers[index];
      if (footer === undefined || footer.index >= before) break;
      if (footer.index < copied) continue;
      result += text.slice(copied, bodyStartBefore({ text, end: footer.index, least: copied })) + MASKED_KEY;
      copied = footer.index + footer[0].length;
    }
    return index;
  }
}

function bodyEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && BODY_CHAR.test(text.charAt(end))) end += 1;
  return end;
}

/** Only lines of base64 belong to the key; the sentence before it does not. */
function bodyStartBefore({ text, end, least }: { text: string; end: number; least: number }): number {
  let start = end;
  while (start > least && /[A-Za-z0-9+/=\n\\]/.test(text.charAt(start - 1))) start -= 1;
  return start;
}
