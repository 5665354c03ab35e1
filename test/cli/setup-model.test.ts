import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Step } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";
import { errorLine, hermes, json, tempFolder } from "./hermes.js";

interface Report {
  readonly ok: boolean;
  readonly items: readonly {
    readonly what: string;
    readonly state: string;
    readonly fix: string | null;
    readonly detail: string;
  }[];
}

const servers: ScriptedModel[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function scripted(...steps: readonly Step[]): Promise<ScriptedModel> {
  const server = await startScriptedModel({ steps });
  servers.push(server);
  return server;
}

describe("hermes setup model", () => {
  it("tests with one request, then keeps the key in .env and the rest in config.yaml", async () => {
    const home = tempFolder();
    const server = await scripted({ text: "ready", usage: { input: 1_000, output: 100 } });
    writeFileSync(join(home, "config.yaml"), "model: { prices: { input: 1, output: 2 } }\n", { mode: 0o600 });
    const args = ["setup", "model", "--provider", "anthropic", "--name", "m-1", "--base-url", server.url];
    const done = await hermes([...args, "--key-stdin", "--json"], { home, stdin: "sk-secret-1234567890\n" });
    expect(done.code).toBe(0);
    const report = json<Report>(done);
    expect(report).toMatchObject({
      ok: true,
      items: [{ what: "model anthropic:m-1", state: "installed", fix: null }],
    });
    expect(report.items[0]?.detail).toMatch(/1000 \+ 100 tokens, 0\.001200 USD; 1 USD per million/);
    expect(server.requests.map(({ format, headers }) => [format, headers["x-api-key"]])).toEqual([
      ["anthropic", "sk-secret-1234567890"],
    ]);
    const env = join(home, ".env");
    expect(readFileSync(env, "utf8")).toBe("ANTHROPIC_API_KEY=sk-secret-1234567890\n");
    expect(statSync(env).mode & 0o077).toBe(0);
    const config = readFileSync(join(home, "config.yaml"), "utf8");
    expect(config).toContain("anthropic");
    expect(config).toContain("m-1");
    expect(config).not.toContain("sk-secret");
    expect(done.stdout + done.stderr).not.toContain("sk-secret");
    const checked = await hermes(["setup", "model", "--check", "--json"], { home });
    expect(checked.code).toBe(0);
    expect(json<Report>(checked).items[0]).toMatchObject({ what: "model anthropic:m-1", state: "present" });
    expect(server.requests).toHaveLength(1);
  }, 60_000);

  it("a key that is refused, and a server that is not there, are told with their exit codes; nothing is written", async () => {
    const home = tempFolder();
    const server = await scripted({ status: 401, error: "invalid x-api-key" });
    const args = (url: string) => ["setup", "model", "--provider", "anthropic", "--base-url", url, "--json"];
    const refused = await hermes([...args(server.url), "--key-stdin"], { home, stdin: "wrong-key" });
    expect(refused.code).toBe(6);
    expect(json<Report>(refused)).toMatchObject({ ok: false, items: [{ state: "failed" }] });
    const away = await hermes(args("http://127.0.0.1:9"), { home });
    expect(away.code).toBe(7);
    expect(json<Report>(away).items[0]?.fix).toContain("start the server at http://127.0.0.1:9");
    expect(existsSync(join(home, ".env"))).toBe(false);
    expect(existsSync(join(home, "config.yaml"))).toBe(false);
  }, 60_000);

  it("without a person and without flags it says what to type; a tool may not do it at all", async () => {
    const silent = await hermes(["setup", "model", "--json"], { home: tempFolder() });
    expect(silent.code).toBe(2);
    expect(errorLine(silent).hint).toContain("--provider");
    const args = ["setup", "model", "--provider", "compatible", "--base-url", "http://127.0.0.1:9", "--json"];
    const byTool = await hermes(args, { home: tempFolder(), env: { AI_AGENT: "hermes" } });
    expect(byTool.code).toBe(5);
  }, 60_000);
});
