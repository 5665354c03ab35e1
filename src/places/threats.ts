import { foldLookAlikes } from "../call/framing-names.js";
import { plainNames } from "./match-place.js";

/** Shown nowhere, and read by a model all the same. Joiners and selectors inside emoji and foreign words are left alone. */
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e01ef}]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|(?<=^|[\x00-\x7f])[\u200c\u200d]/u;

const SECRET_VARIABLE = String.raw`\$\{?\w*(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIAL|AUTH)\w*`;
const SENDER = String.raw`(?<![\w./-])(?:curl|wget|nc|ncat|netcat|scp|rsync|ssh|ftp|fetch|Invoke-WebRequest)\b`;
const READER = String.raw`\b(?:cat|less|head|tail|base64|xxd|strings|type|Get-Content)\s+`;
/** Places and names that hold credentials, as far as a text would spell them out; `hub.docker.com` is not `~/.docker`. */
const SECRET_FILE = `(?<![\\w.-])(?:${[
  ...plainNames("~/", ({ read }) => read !== "allow"),
  ...plainNames("/", ({ read }) => read !== "allow").map((name) => `/${name}`),
  ...plainNames(
    "**/",
    ({ what, write }) =>
      what === "environment" || what === "hermes-secrets" || (what === "secrets" && write === "ask"),
  ),
  "credentials",
  "credentials.json",
]
  .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  .join("|")})(?![\\w-])`;

interface Threat {
  /** As the end of "it holds …". */
  readonly what: string;
  readonly pattern: RegExp;
}

const DROPS_RULES = "an order to ignore instructions";
const SENDS_SECRETS = "a command that sends secrets away";

const THREATS: readonly Threat[] = [
  {
    what: DROPS_RULES,
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.]{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system|these|safety)\b[^.]{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|restrictions?|polic(?:y|ies))\b/i,
  },
  {
    what: DROPS_RULES,
    pattern: /\b(?:ignoriere|vergiss|missachte)\b.{0,40}\b(?:anweisungen|regeln|vorgaben)\b/is,
  },
  { what: DROPS_RULES, pattern: /忽略.{0,10}(?:指令|指示|规则|提示)/s },
  {
    what: "a new role for the model",
    pattern:
      /\byou are now (?:dan\b|in )|\byou are no longer\b|\bact as (?:if|though) you (?:have|had) no\b|\b(?:new|updated) system prompt\b/i,
  },
  {
    what: "a new role for the model",
    pattern:
      /\b(?:you\s+are\s+now|act\s+as|pretend\s+(?:to\s+be|that\s+you))\b[^.\n]{0,60}\b(?:unrestricted|jailbroken|without\s+(?:any\s+)?(?:restrictions|limits|rules)|no\s+(?:restrictions|limits|rules)|developer\s+mode|DAN)\b/i,
  },
  {
    what: "an order to keep something from the person",
    pattern:
      /\b(?:do\s*n[o']?t|never|without)\b.{0,20}\b(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|mention(?:ing)?(?:\s+\w+){0,3}\s+to|let|reveal|ask(?:ing)?)\b.{0,20}\b(?:user|person|human|owner|operator)\b/is,
  },
  {
    what: "a frame of the prompt",
    pattern:
      /<\s*\/?\s*(?:system|untrusted_tool_result|project_notes|tool_call|function_calls?|invoke|memory)\b|<\|[a-z_]+\|>|<<\/?SYS>>|\[\/?(?:INST|SYSTEM)\]|^[^\S\n]*(?:#{1,3}[^\S\n]*)?(?:new\s+)?system\s+(?:prompt|message)\s*:/im,
  },
  {
    what: SENDS_SECRETS,
    pattern: new RegExp(`${SENDER}[^\\n]{0,200}(?:${SECRET_VARIABLE}|${SECRET_FILE})`, "i"),
  },
  {
    what: SENDS_SECRETS,
    pattern: new RegExp(
      `(?:${SECRET_FILE}|\\b(?:printenv|env)\\b)[^\\n]{0,120}\\|[^\\n]{0,60}${SENDER}`,
      "i",
    ),
  },
  {
    what: "an order to send secrets away",
    pattern:
      /\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak)\b[^.\n]{0,60}\b(?:api[\s_-]?keys?|passwords?|secrets?|private\s+keys?|credentials?|access\s+tokens?)\b[^\n]{0,60}\b(?:to|at)\b[^\n]{0,20}(?:https?:\/\/|\S+@\S+)/i,
  },
  { what: "a command that reads secrets", pattern: new RegExp(`${READER}[^\\n]{0,80}${SECRET_FILE}`, "i") },
  {
    what: "a door for strangers",
    pattern:
      /\bauthorized_keys\b|\bNOPASSWD\b|\/etc\/sudoers|\bssh-(?:rsa|ed25519|dss)\s+AAAA|(?:echo|printf)[^\n]{0,200}>>?\s*~?\/?[^\n]{0,60}\.ssh\//i,
  },
  {
    what: "a command that runs what it downloads",
    pattern: /\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i,
  },
];

const KEY =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}/;

/**
 * What a text must not hold that is read again later with nobody watching: an entry of memory, a skill, a scheduled
 * prompt. Undefined when nothing is wrong with it. A list of phrases stops the clumsy only; what comes from outside is
 * asked about whatever it says, and what a model may do is decided by the policy.
 */
export function threatIn(text: string): string | undefined {
  const hidden = INVISIBLE.exec(text)?.[0];
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `a character that nobody sees (U+${code})`;
  }
  if (KEY.test(text)) return "a key or password";
  // Letters that only look different must not hide the words.
  const plain = text.normalize("NFKC");
  const folded = foldLookAlikes(plain);
  return THREATS.find(({ pattern }) => pattern.test(plain) || pattern.test(folded))?.what;
}
