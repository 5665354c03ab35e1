import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namesSecret, SecretRegistry } from "../../src/policy/secrets.js";

function registryWith(secrets: Readonly<Record<string, string>>): SecretRegistry {
  const registry = new SecretRegistry();
  for (const [name, value] of Object.entries(secrets)) registry.add(name, value);
  return registry;
}

describe("SecretRegistry", () => {
  it("replaces a known value by its name", () => {
    const registry = registryWith({ DB_PASSWORD: "Tr0ub4dor&3" });
    expect(registry.redact("login with Tr0ub4dor&3 failed")).toBe("login with [REDACTED:DB_PASSWORD] failed");
  });

  it("gives back the same text when nothing matched", () => {
    const text = "nothing to see";
    expect(new SecretRegistry().redact(text)).toBe(text);
    expect(registryWith({ A: "Tr0ub4dor&3" }).redact(text)).toBe(text);
  });

  it("prefers the longest of two secrets that begin alike", () => {
    const registry = registryWith({ SHORT: "abcdefgh1", LONG: "abcdefgh1-and-more" });
    expect(registry.redact("x abcdefgh1-and-more y abcdefgh1 z")).toBe(
      "x [REDACTED:LONG] y [REDACTED:SHORT] z",
    );
  });

  it("does not mask short or very common values, but still hands them out", () => {
    const registry = registryWith({
      PIN: "1234567",
      HOST: "localhost",
      FLAG: "true",
      WORD: "password",
      DASHES: "--------",
    });
    expect(registry.size).toBe(0);
    expect(registry.get("PIN")).toBe("1234567");
    expect(registry.redact("password on localhost -------- true")).toBe(
      "password on localhost -------- true",
    );
  });

  it("recognises the value inside a Basic header, whatever the user name", () => {
    const registry = registryWith({ PW: "correct-horse-battery" });
    for (const user of ["a", "ab", "abc", "abcd"]) {
      const header = Buffer.from(`${user}:correct-horse-battery`).toString("base64");
      const core = Buffer.from("rect-horse-batt").toString("base64").slice(2, -2);
      const shown = registry.redact(`Authorization: Basic ${header}`);
      expect(shown).toContain("[REDACTED:PW]");
      expect(shown).not.toContain(core);
    }
  });

  it("masks the lines of a key of many lines one by one", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
    const registry = registryWith({
      KEY: `-----BEGIN PRIVATE KEY-----\n${line}\n${line}x\n-----END PRIVATE KEY-----\n`,
    });
    expect(registry.redact(`  | ${line}\n`)).toBe("  | [REDACTED:KEY]\n");
  });

  it("takes secrets from the environment by name, and passwords out of URLs", () => {
    const registry = new SecretRegistry();
    registry.addFromEnv({
      GITHUB_TOKEN: "tok-12345678",
      AWS_ACCESS_KEY_ID: "keyid-1234567",
      PGPASSWORD: "pg-pass-1234",
      DATABASE_URL: "postgres://app:url-pass-99@db/x",
      PATH: "/usr/local/bin:/usr/bin",
      SSH_AUTH_SOCK: "/run/user/1000/ssh-agent",
      TOKENIZERS_PARALLELISM: "false-ish-value",
      EMPTY_TOKEN: "",
      MISSING_TOKEN: undefined,
    });
    const text =
      "tok-12345678 keyid-1234567 pg-pass-1234 url-pass-99 /usr/local/bin:/usr/bin /run/user/1000/ssh-agent false-ish-value";
    expect(registry.redact(text)).toBe(
      "[REDACTED:GITHUB_TOKEN] [REDACTED:AWS_ACCESS_KEY_ID] [REDACTED:PGPASSWORD] [REDACTED:DATABASE_URL] /usr/local/bin:/usr/bin /run/user/1000/ssh-agent false-ish-value",
    );
    expect(registry.get("GITHUB_TOKEN")).toBe("tok-12345678");
    expect(registry.get("PATH")).toBeUndefined();
  });

  it.each([
    ["OPENAI_API_KEY", true],
    ["npm_config__authToken", true],
    ["MY_SECRET", true],
    ["DB_PASSWD", true],
    ["githubToken", true],
    ["GOOGLE_APPLICATION_CREDENTIALS", true],
    ["DB_PWD", true],
    ["SESSION_COOKIE", true],
    ["HOME", false],
    ["KEYBOARD", false],
    ["GIT_AUTHOR_NAME", false],
    ["XAUTHORITY", false],
    ["MAX_OUTPUT_TOKENS", false],
    ["SSH_AUTH_SOCK", false],
    ["PWD", false],
    ["OLDPWD", false],
    ["SSH_KEY_PATH", false],
    ["MONKEYS", false],
  ])("%s names a secret: %s", (name, expected) => {
    expect(namesSecret(name)).toBe(expected);
  });

  const secretValue = fc
    .string({ unit: "grapheme", minLength: 8, maxLength: 40 })
    .filter((value) => value.trim().length >= 8);
  const spell: readonly ((value: string) => string)[] = [
    (value) => value,
    (value) => Buffer.from(value).toString("base64"),
    (value) => Buffer.from(value).toString("base64url"),
    (value) => encodeURIComponent(value),
    (value) => JSON.stringify(value).slice(1, -1),
    (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3),
    (value) => Buffer.from(value).toString("hex"),
  ];

  it("no added value survives in any of its spellings", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(secretValue, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(5), fc.nat(spell.length - 1), fc.string({ maxLength: 10 })), {
          minLength: 1,
          maxLength: 8,
        }),
        (values, uses) => {
          const registry = new SecretRegistry();
          for (const [index, value] of values.entries()) registry.add(`NAME_${index}`, value);
          const masked = values
            .map((value) => value.trim())
            .filter((value) => registry.redact(value) !== value);
          const text = uses
            .map(
              ([which, how, gap]) =>
                `${gap}${spell[how]?.(values[which % values.length]?.trim() ?? "") ?? ""}`,
            )
            .join("");
          const shown = registry.redact(text);
          for (const value of masked) {
            for (const spelling of spell) expect(shown).not.toContain(spelling(value));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("a name that contains a secret does not bring it back", () => {
    const registry = registryWith({ "prefix-topsecretvalue": "topsecretvalue" });
    expect(registry.redact("x topsecretvalue y")).toBe("x [REDACTED] y");
  });
});
