import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../../src/index.js";
import { maskUnmistakable } from "../../src/tool/secret-patterns.js";
import { tempDir, testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

const VALUE = "zR4-known-from-a-file-77qLm";

async function leak(prepare: (home: string) => void, text = `it says ${VALUE} here`) {
  const home = tempDir();
  prepare(home);
  const { runtime, logged } = await testRuntime([tool("leak", () => text)], { home });
  const session = await runtime.openSession();
  const result = await session.call({ name: "leak" });
  runtime.log.warn(`logged: ${text}`);
  return { text: textOf(result.content), logged: logged.join("\n") };
}

const config = (home: string, text: string) => writeFileSync(join(home, "config.yaml"), text);

describe("lesson 31: wherever a secret is kept, the runtime knows it", () => {
  it.each<[string, (home: string) => void]>([
    ["a secret setting", (home) => config(home, `approvals:\n  reviewer:\n    api_key: ${VALUE}\n`)],
    [
      "a tool's own section",
      (home) => config(home, `tool_settings:\n  web:\n    deep:\n      api_key: ${VALUE}\n`),
    ],
    [".env, under any name", (home) => writeFileSync(join(home, ".env"), `PLAIN=${VALUE}\n`)],
    ["the server's token file", (home) => writeFileSync(join(home, "server.token"), `${VALUE}\n`)],
    [
      "the token of an MCP server",
      (home) => {
        mkdirSync(join(home, "mcp-tokens"));
        writeFileSync(join(home, "mcp-tokens", "x.json"), JSON.stringify({ a: { access_token: VALUE } }));
      },
    ],
  ])("%s", async (_where, prepare) => {
    const seen = await leak(prepare);
    expect(seen.text).toContain("[REDACTED");
    expect(seen.text).not.toContain(VALUE);
    expect(seen.logged).toContain("logged: it says [REDACTED");
    expect(seen.logged).not.toContain(VALUE);
  });
});

describe("a credential nobody told us about", () => {
  const token = `ghp_${"a1B2c3D4".repeat(5)}`;
  const text = `remote https://me:${token}@host/x and ${token}`;

  it("is masked by its form in results and logs", async () => {
    const seen = await leak(() => undefined, text);
    expect(seen.text + seen.logged).not.toContain(token);
  });

  it("also in the preview of a result that is too long", async () => {
    const seen = await leak(() => undefined, `${text}\n${"long ".repeat(80_000)}`);
    expect(seen.text).not.toContain(token);
  });

  it("unless the operator has switched that off", async () => {
    const seen = await leak((home) => config(home, "security:\n  redact_patterns: false\n"), text);
    expect(seen.text).toContain(token);
  });

  it("and ordinary text stays as it is", () => {
    for (const harmless of [
      "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "git@github.com:me/repo.git and https://example.com:8080/a?b=c and http://user@host/",
      "const api_key = process.env.API_KEY; password: string;",
      "commit 0123456789abcdef0123456789abcdef01234567",
      "postgres://localhost:5432/app",
      "from sk-learn import hf_hub_download, npm_config_registry",
    ]) {
      expect(maskUnmistakable(harmless)).toBe(harmless);
    }
  });
});
