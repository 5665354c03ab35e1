/**
 * What memory must not hold, because it is read into the prompt of every later conversation. A list of phrases stops the
 * clumsy only; what comes from outside is asked about whatever it says.
 */
const THREATS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: "an order to ignore instructions",
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|system|these|safety)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|restrictions?|polic(?:y|ies))\b/is,
  },
  {
    what: "an order to ignore instructions",
    pattern: /\b(?:ignoriere|vergiss|missachte)\b.{0,40}\b(?:anweisungen|regeln|vorgaben)\b/is,
  },
  { what: "an order to ignore instructions", pattern: /忽略.{0,10}(?:指令|指示|规则|提示)/s },
  {
    what: "a new role for the model",
    pattern:
      /\byou are (?:now|no longer)\b|\bact as (?:if|though) you (?:have|had) no\b|\b(?:new|updated) system prompt\b/i,
  },
  {
    what: "an order to keep something from the person",
    pattern:
      /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|telling|inform|informing|mention(?:ing)? (?:it|this) to|let|reveal|asking|ask)\b.{0,20}\b(?:user|person|human|owner|operator)\b/is,
  },
  {
    what: "a frame of the prompt",
    pattern:
      /<\s*\/?\s*(?:system|untrusted_tool_result|tool_call|function_calls?|invoke|memory)\b|<\|[a-z_]+\|>|\[\/?INST\]/i,
  },
  {
    what: "a command that sends secrets away",
    pattern:
      /\b(?:curl|wget|nc|ncat|scp|rsync|fetch|Invoke-WebRequest)\b[^\n]{0,200}(?:\$\{?[A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)|\.env\b|id_rsa|id_ed25519|\.ssh\/|\.aws\/|\.netrc|server\.token)/i,
  },
  {
    what: "a command that reads secrets",
    pattern:
      /\b(?:cat|less|head|tail|base64|xxd|strings|type|Get-Content)\s+[^\n]{0,80}(?:\.env\b|\.netrc|\.pgpass|id_rsa|id_ed25519|\.aws\/credentials|\.npmrc|\/etc\/shadow|server\.token|approvals\.key)/i,
  },
  {
    what: "a back door for ssh",
    pattern:
      /authorized_keys|\bssh-(?:rsa|ed25519|dss)\s+AAAA|(?:echo|printf)[^\n]{0,200}>>?\s*~?\/?[^\n]{0,60}\.ssh\//i,
  },
  {
    what: "a command that runs what it downloads",
    pattern: /\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i,
  },
  {
    what: "a key or password",
    pattern:
      /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  },
  {
    what: "characters that nobody sees",
    pattern:
      /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/u,
  },
];

/** What is wrong with a text that is to be remembered; undefined when nothing is. */
export function threatIn(text: string): string | undefined {
  // Full-width letters and the like read the same to a model.
  const plain = text.normalize("NFKC");
  return THREATS.find(({ pattern }) => pattern.test(text) || pattern.test(plain))?.what;
}
