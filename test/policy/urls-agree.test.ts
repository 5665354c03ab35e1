import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testRuntime } from "../support/runtime.js";

/** What is said beforehand, and what then happens when nobody can be asked. */
async function bothOf(name: string, args: Record<string, unknown>, flags: Record<string, unknown> = {}) {
  const { runtime, cwd } = await testRuntime([], { builtins: true, flags });
  symlinkSync("/etc/shadow", join(cwd, "link"));
  writeFileSync(join(cwd, ".env"), "A=1\n");
  const session = await runtime.openSession();
  const explained = await session.explainCall({ name, arguments: args });
  const result = await session.call({ name, arguments: args });
  return { explained, result };
}

describe("what explain says of an address is what the call meets", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://metadata.google.internal/",
    "http://127.0.0.1:2/",
    "http://localhost:2/",
    "http://[::1]:2/",
    "http://2130706433:2/",
    "http://10.0.0.1/",
    "http://user:secret@example.com/",
    "http://example.com:25/",
    "http://closed.example/",
  ])("%s is denied by both, before anything runs", async (url) => {
    const { explained, result } = await bothOf(
      "http_request",
      { url },
      { "security.website_blocklist": ["closed.example"] },
    );
    expect(explained).toMatchObject({ ok: false, decision: { verdict: "deny", rule: "security.urls" } });
    expect(result).toMatchObject({ state: "not_started", error: { code: "denied" } });
    expect(result.decision).toEqual(explained.decision);
    expect(JSON.stringify(result)).not.toContain("user:secret");
  });

  it("an opened private host is allowed by both", async () => {
    const { explained, result } = await bothOf(
      "http_request",
      { url: "http://127.0.0.1:2/" },
      { "security.allowed_hosts": ["127.0.0.1"] },
    );
    expect(explained).toMatchObject({ ok: true, decision: { verdict: "allow" } });
    expect(result.error?.code).toBe("failed");
  });

  it.each([
    ["read_file", { path: "link" }],
    ["read_file", { path: ".env" }],
    ["write_file", { path: "/etc/passwd", content: "x" }],
    ["read_file", { path: "/proc/self/environ" }],
  ])("%s %j is judged alike", async (name, args) => {
    const { explained, result } = await bothOf(name, args);
    const { answer, ...decision } = result.decision ?? {};
    expect(decision).toEqual(explained.decision);
    expect(explained.decision?.verdict).not.toBe("allow");
    expect(result.state).toBe("not_started");
    expect(answer).toBe(explained.decision?.verdict === "ask" ? "nobody" : undefined);
  });
});
