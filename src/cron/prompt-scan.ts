import { plainNames } from "../places/match-place.js";

/** Shown nowhere, and read by a model all the same. Joiners and selectors inside emoji are left alone. */
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0]|[\u{e0000}-\u{e007f}]|(?<!\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d/u;

const SECRET_VARIABLE = String.raw`\$\{?\w*(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIAL|AUTH)\w*`;
const SENDER = String.raw`\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ssh|ftp|Invoke-WebRequest)\b`;
/** Places and names that hold credentials, as far as a prompt would spell them out; `hub.docker.com` is not `~/.docker`. */
const SECRET_FILE = `(?<![\\w.-])(?:${[
  ...plainNames("~/", ({ read }) => read !== "allow"),
  ...plainNames("/", ({ read }) => read !== "allow").map((name) => `/${name}`),
  ...plainNames(
    "**/",
    ({ what, write }) => what === "environment" || (what === "secrets" && write === "ask"),
  ),
  "credentials",
  "credentials.json",
]
  .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  .join("|")})(?![\\w-])`;

interface Pattern {
  readonly what: string;
  readonly test: RegExp;
}

const PATTERNS: readonly Pattern[] = [
  {
    what: "tells the model to drop its instructions",
    test: /\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|system|safety|your|all)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|guidelines?|directives?|restrictions?)\b/i,
  },
  {
    what: "wants the person kept in the dark",
    test: /\b(?:do\s*n[o']?t|never|without)\s+(?:tell|inform|notify|alert|mention(?:ing)?(?:\s+\w+){0,3}\s+to|telling|informing|notifying)\s+(?:the\s+)?(?:user|person|human|owner|operator)\b/i,
  },
  {
    what: "gives the model another role without limits",
    test: /\b(?:you\s+are\s+now|act\s+as|pretend\s+(?:to\s+be|that\s+you))\b[^.\n]{0,60}\b(?:unrestricted|jailbroken|without\s+(?:any\s+)?(?:restrictions|limits|rules)|no\s+(?:restrictions|limits|rules)|developer\s+mode|DAN)\b/i,
  },
  {
    what: "poses as a message of the system",
    test: /<\|?(?:im_start|im_end|system|endoftext)\|?>|\[\/?(?:INST|SYSTEM)\]|<<\/?SYS>>|^\s*#{0,3}\s*(?:new\s+)?system\s+(?:prompt|message)\s*:/im,
  },
  {
    what: "sends secrets away",
    test: new RegExp(`${SENDER}[^\\n]{0,200}(?:${SECRET_VARIABLE}|${SECRET_FILE})`, "i"),
  },
  {
    what: "sends secrets away",
    test: new RegExp(`(?:${SECRET_FILE}|\\b(?:printenv|env)\\b)[^\\n]{0,120}\\|[^\\n]{0,60}${SENDER}`, "i"),
  },
  {
    what: "sends secrets away",
    test: /\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak)\b[^.\n]{0,60}\b(?:api[\s_-]?keys?|passwords?|secrets?|private\s+keys?|credentials?|access\s+tokens?)\b[^\n]{0,60}\b(?:to|at)\b[^\n]{0,20}(?:https?:\/\/|\S+@\S+)/i,
  },
  { what: "opens a door for strangers", test: /\bauthorized_keys\b|\bNOPASSWD\b|\/etc\/sudoers/i },
];

/**
 * Why a prompt must not be kept; undefined when nothing is wrong with it. A kept prompt runs again and again with
 * nobody watching, so what would only be odd in a conversation is refused here. It is one fence of several: what
 * the run may do is decided by the policy.
 */
export function scanPrompt(prompt: string): string | undefined {
  const hidden = INVISIBLE.exec(prompt)?.[0];
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `it holds a character that cannot be seen (U+${code})`;
  }
  // Letters that only look different must not hide the words.
  const plain = prompt.normalize("NFKC");
  const found = PATTERNS.find(({ test }) => test.test(plain));
  return found === undefined ? undefined : `it ${found.what}`;
}
