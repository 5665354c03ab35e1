import { performance } from "node:perf_hooks";
import { describe, expect, it } from "vitest";
import { sanitizeErrorText } from "../../src/call/sanitize.js";
import { SecretRegistry } from "../../src/policy/secrets.js";
import { maskVendorSecrets } from "../../src/tool/secret-patterns.js";

/** Beginnings of everything a pattern looks for; repeated, they are the worst input for a backtracking matcher. */
const PREFIXES = [
  "a",
  "A",
  "0",
  " ",
  "\n",
  "-",
  "=",
  "'",
  '"',
  "\\",
  "<",
  "</",
  "<|",
  "<to",
  "<tool_call",
  '<tool_call a="',
  "<s>",
  "A<User>",
  "<input ",
  "usage: <input>",
  "<tool_<tool_call>call>",
  "&",
  "&lt;",
  "&amp;",
  "&#60;",
  "%3c",
  "%25",
  "‹",
  "]]>",
  "```",
  "~~~",
  "[",
  "[INST",
  "\x1b]",
  "\x1b[",
  "\x9d",
  "\r",
  "ab\b",
  "\u200d",
  "é\u200d",
  "\ud83d",
  "sk-",
  "sk-ant-",
  "eyJ",
  "eyJa.",
  "SG.",
  "AKIA",
  "AKIAAAAAAAAAAAAAAAAA ",
  "1234567:",
  "Maaaaaaaaaaaaaaaaaa.",
  "://",
  "a://b:",
  "a://b:c@",
  "password=",
  "password: ",
  'password="',
  "_key=",
  "token",
  "?token=",
  "&a",
  "<password>",
  "Bearer ",
  "Cookie: a=b",
  "set-cookie:",
  "--token ",
  "mysql -",
  "AC00000000000000000000000000000000 ",
  "-----BEGIN PRIVATE KEY-----",
  "-----END PRIVATE KEY-----",
  "a_b_c=",
  "a:b@",
];

function timeOf(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    work();
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

function repeated(prefix: string, chars: number): string {
  return prefix.repeat(Math.ceil(chars / prefix.length));
}

describe("time grows in step with the input", () => {
  it.each(PREFIXES)("masking, %j repeated", (prefix) => {
    maskVendorSecrets(repeated(prefix, 1_000));
    const small = timeOf(() => maskVendorSecrets(repeated(prefix, 25_000)));
    const large = timeOf(() => maskVendorSecrets(repeated(prefix, 200_000)));
    // Three doublings, each allowed to triple the time; below the floor a busy machine decides, not the input.
    expect(large).toBeLessThan(Math.max(1_000, 27 * small));
    expect(large).toBeLessThan(2_000);
  });

  it.each(PREFIXES)("sanitising, %j repeated", (prefix) => {
    const huge = repeated(prefix, 1_000_000);
    sanitizeErrorText(huge.slice(0, 1_000));
    expect(timeOf(() => sanitizeErrorText(huge))).toBeLessThan(500);
  });

  it("redacting hundreds of secrets costs about as much as redacting one", () => {
    const text = "Error: ENOENT: no such file or directory, open '/app/src/index.js'\n".repeat(15_000);
    const one = new SecretRegistry();
    one.add("ONE", "v3ry-s3cr3t-value-0");
    const many = new SecretRegistry();
    for (let index = 0; index < 500; index++) many.add(`S${index}`, `v3ry-s3cr3t-value-${index * 7919}`);
    one.redact(text);
    many.redact(text);
    const costOfOne = timeOf(() => one.redact(text));
    expect(timeOf(() => many.redact(text))).toBeLessThan(Math.max(200, 12 * costOfOne));
  });
});
