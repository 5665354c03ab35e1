import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SecretRegistry } from "../../src/policy/secrets.js";

const TOKEN = randomBytes(32).toString("base64url");

function registry(value = TOKEN): SecretRegistry {
  const secrets = new SecretRegistry();
  secrets.add("server.token", value);
  return secrets;
}

/** What is left of a value in a text: its longest run of characters, forwards or backwards, separators aside. */
function longestLeft(text: string, value = TOKEN): number {
  const dense = text.replace(/[\s:,;|"'\\[\]]/g, "");
  const hex = Buffer.from(value).toString("hex");
  const forms = [value, hex].flatMap((form) => [form, [...form].reverse().join("")]);
  for (let length = value.length; length > 0; length--)
    for (const form of forms)
      for (let at = 0; at + length <= form.length; at++)
        if (dense.includes(form.slice(at, at + length))) return length;
  return 0;
}

test("a token without a digit is masked as well", () => {
  const token = "QGZVSthSqNOgLvkoOKCqHxcK_iryliPtVH_R_SnyMiM";
  expect(longestLeft(registry(token).redact([...token].join("\n")), token)).toBeLessThan(12);
});

/** What `rev` does, which not every machine has. */
const BACKWARDS = `awk '{ for (at = length($0); at > 0; at--) printf "%s", substr($0, at, 1) }'`;

describe("a token is masked in every form that can be turned back", () => {
  const sh = (script: string) => execFileSync("bash", ["-c", script], { input: TOKEN, encoding: "utf8" });
  test.each([
    ["backwards", BACKWARDS],
    ["one character per line", "fold -w1"],
    ["in lines of seven", "fold -w7"],
    ["with blanks between", "sed 's/./& /g'"],
    ["with quotes and commas", `sed "s/./'&', /g"`],
    ["hex", "od -An -v -tx1"],
    ["hex without blanks", "od -An -v -tx1 | tr -d ' \\n'"],
    ["hex in capitals", "od -An -v -tx1 | tr a-f A-F"],
    ["hex backwards", `od -An -v -tx1 | tr -d ' \\n' | ${BACKWARDS}`],
    ["hex of words", "od -An -v -tx2"],
    ["escaped hex", "od -An -v -tx1 | tr -d '\\n' | sed 's/ /\\\\x/g'"],
    ["hex with 0x", "od -An -v -tx1 | tr -d '\\n' | sed 's/ /, 0x/g'"],
    ["a dump with characters", "od -An -v -c"],
    ["base64", "base64 -w0"],
    ["base64 in lines", "base64 -w10"],
    ["base64 of more", "(echo -n x; cat) | base64 -w0"],
    ["base64 of still more", "(echo -n xy; cat) | base64 -w0"],
    ["base64 backwards", `base64 -w0 | ${BACKWARDS}`],
  ])("%s", (_form, script) => {
    const printed = sh(script);
    const shown = registry().redact(`it says:\n${printed}\nand ends`);
    expect(shown).toContain("[REDACTED:server.token]");
    expect(shown).toContain("it says:");
    expect(shown).toContain("and ends");
    expect(longestLeft(shown)).toBeLessThan(12);
    expect(shown.length).toBeLessThan(printed.length + 40);
    const result = registry().redact(JSON.stringify({ output: printed }));
    expect(longestLeft(JSON.parse(result).output)).toBeLessThan(12);
  });

  test("a part of it of sixteen characters, wherever it is cut out", () => {
    for (let at = 0; at + 16 <= TOKEN.length; at++)
      expect(longestLeft(registry().redact(`<${TOKEN.slice(at, at + 16)}>`))).toBeLessThan(12);
  });

  test("a private key line by line, without its first and last line", () => {
    const body = randomBytes(120).toString("base64");
    const key = `-----BEGIN PRIVATE KEY-----\n${body.replace(/(.{64})/g, "$1\n")}\n-----END PRIVATE KEY-----\n`;
    const shown = registry(key).redact([...body].reverse().join(""));
    expect(longestLeft(shown, body)).toBeLessThan(12);
  });
});

test("values of words and addresses change no ordinary text", () => {
  const secrets = new SecretRegistry();
  secrets.add("MODEL", "claude-sonnet-4-20250514");
  secrets.add("DSN", "postgres://app:x@db.internal.example.com:5432/orders_production");
  secrets.add("PASSPHRASE", "the quick brown fox jumps over the lazy dog");
  const text = "claude-sonnet-3 on db.internal.example.com, orders_production: the quick brown fox sleeps";
  expect(secrets.redact(text)).toBe(text);
});

test("ordinary text stays as it is and costs little", () => {
  const secrets = registry();
  for (let count = 0; count < 60; count++) secrets.add(`KEY_${count}`, randomBytes(32).toString("hex"));
  const text = Array.from({ length: 3_000 }, (_, at) => `src/file-${at}.ts:${at}: const value = call(${at});`)
    .join("\n")
    .slice(0, 200_000);
  expect(secrets.redact(text)).toBe(text);
  const before = performance.now();
  for (let run = 0; run < 5; run++) secrets.redact(text);
  expect((performance.now() - before) / 5).toBeLessThan(150);
});
