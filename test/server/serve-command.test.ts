import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { tempDir } from "../support/runtime.js";
import { bundleProgram, type ServeProcess, startServe } from "./serve-process.js";
import { TOKEN, until } from "./support.js";

let program: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  program = await bundleProgram();
});
afterAll(() => program.remove());

function serve(
  options: { args?: readonly string[]; env?: Record<string, string>; home?: string } = {},
): ServeProcess & { home: string } {
  const home = options.home ?? tempDir();
  return { home, ...startServe({ script: program.script, args: ["--port", "0"], ...options, home }) };
}

async function addressOf(server: ServeProcess): Promise<URL> {
  await until(() => /http:\S+/.test(server.stdout()) || server.child.exitCode !== null, 20_000);
  const found = /http:\S+/.exec(server.stdout())?.[0];
  if (found === undefined) throw new Error(`did not start: ${server.stderr()}`);
  return new URL(found);
}

describe("hermes serve", () => {
  it("prints where it is, with the token, what is ready and what to try, and works", async () => {
    const server = serve();
    const address = await addressOf(server);
    const file = join(server.home, "server.token");
    expect(address.searchParams.get("token")).toBe(readFileSync(file, "utf8").trim());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await until(() => server.stdout().includes("Ctrl-C"));
    expect(server.stdout()).toMatch(/\d+ ready/);
    expect(server.stdout()).toContain("hermes-tools call system_info");
    const answer = await fetch(new URL("/v1/tool_calls", address), {
      method: "POST",
      headers: { authorization: `Bearer ${address.searchParams.get("token")}` },
      body: JSON.stringify({ tool_calls: [{ id: "1", function: { name: "system_info", arguments: {} } }] }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain('"error"');
    server.child.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(server.stderr()).not.toMatch(/error|warn/i);
  });

  it("says what was denied because nobody could be asked, and once what to do about it", async () => {
    const server = serve();
    const address = await addressOf(server);
    const call = { id: "1", function: { name: "terminal", arguments: { command: "rm -rf precious" } } };
    for (let times = 0; times < 2; times += 1)
      await fetch(new URL("/v1/tool_calls", address), {
        method: "POST",
        headers: { authorization: `Bearer ${address.searchParams.get("token")}` },
        body: JSON.stringify({ tool_calls: [call] }),
      });
    await until(
      () => server.stderr().split('nobody could be asked: {"command":"rm -rf precious"}').length === 3,
    );
    expect(server.stderr().match(/approvals\.unattended_mode queue/g)).toHaveLength(1);
    server.child.kill("SIGTERM");
    expect(await server.exited).toBe(0);
  });

  it("with --json prints one line and keeps the token out of it", async () => {
    const server = serve({ args: ["--json"], env: { HERMES_PORT: "0" } });
    await until(() => server.stdout().includes("\n"), 20_000);
    const line = JSON.parse(server.stdout());
    expect(line).toEqual({
      url: `http://127.0.0.1:${line.port}/`,
      port: expect.any(Number),
      token_file: join(server.home, "server.token"),
      tools_ready: expect.any(Number),
      tools_need_setup: expect.any(Number),
    });
    expect(server.stdout()).not.toContain(readFileSync(line.token_file, "utf8").trim());
    server.child.kill("SIGINT");
    expect(await server.exited).toBe(0);
    expect(server.stdout().trim().split("\n")).toHaveLength(1);
  });

  it("uses HERMES_TOKEN, makes no file for it, and writes it into no log", async () => {
    const server = serve({ env: { HERMES_TOKEN: TOKEN } });
    const address = await addressOf(server);
    expect(server.stdout()).not.toContain(TOKEN);
    expect(existsSync(join(server.home, "server.token"))).toBe(false);
    const answer = await fetch(new URL("/v1/tools", address), {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(answer.status).toBe(200);
  });

  it("of one home share a token, even when they start at the same moment", async () => {
    const home = tempDir();
    const [first, second] = await Promise.all([addressOf(serve({ home })), addressOf(serve({ home }))]);
    expect(first.searchParams.get("token")).toBe(second.searchParams.get("token"));
    expect(first.port).not.toBe(second.port);
  });

  it("ends a running command when it is stopped, and its call is in the journal", async () => {
    const server = serve({ args: ["--port", "0", "--yolo"] });
    const address = await addressOf(server);
    const headers = { authorization: `Bearer ${address.searchParams.get("token")}` };
    const answer = fetch(new URL("/v1/tool_calls", address), {
      method: "POST",
      headers,
      body: JSON.stringify({
        tool_calls: [{ id: "1", function: { name: "sleep", arguments: { seconds: 60 } } }],
      }),
    });
    await until(
      async () =>
        (await (await fetch(new URL("/v1/calls", address), { headers })).text()).includes("running"),
      20_000,
    );
    const before = performance.now();
    server.child.kill("SIGTERM");
    // As timeout and npx do, which pass on what all of the group have had already.
    server.child.kill("SIGINT");
    expect(await (await answer).text()).toContain("interrupt");
    expect(await server.exited).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
    const again = serve({ home: server.home });
    const later = await addressOf(again);
    const { calls } = (await (await fetch(new URL("/v1/calls", later), { headers })).json()) as {
      calls: unknown[];
    };
    expect(calls).toMatchObject([{ tool: "sleep", status: "cancelled", door: "http" }]);
  });

  it("explains why it cannot start, with the exit code that stands for the reason", async () => {
    const running = await addressOf(serve());
    const taken = serve({ args: ["--port", running.port] });
    // It may be free in a moment: units try again, as they do not with 2 and 4.
    expect(await taken.exited).toBe(1);
    expect(taken.stderr()).toContain("already in use");
    expect(taken.stderr()).toContain("--port 0");

    const open = serve({ args: ["--host", "0.0.0.0", "--port", "0", "--json"] });
    expect(await open.exited).toBe(2);
    expect(JSON.parse(open.stderr()).error.hint).toContain("HERMES_TOKEN");
    const byVariable = serve({ env: { HERMES_HOST: "0.0.0.0" } });
    expect(await byVariable.exited).toBe(2);

    const nowhere = serve({
      args: ["--host", "192.0.2.1", "--port", "0"],
      env: { HERMES_TOKEN: "a-token-of-the-test-0123456789-abcdef" },
    });
    expect(await nowhere.exited).toBe(1);

    const home = tempDir();
    const database = openDatabase(join(home, "state.db"));
    database.exec("PRAGMA user_version = 999");
    database.close();
    const newer = serve({ home });
    expect(await newer.exited).toBe(4);
    expect(newer.stderr()).toContain("newer version");

    const unreadable = tempDir();
    mkdirSync(join(unreadable, "state.db"));
    expect(await serve({ home: unreadable }).exited).toBe(1);

    const nonsense = serve({ args: ["--port", "http"] });
    expect(await nonsense.exited).toBe(2);
    expect(nonsense.stderr()).toContain("--port must be a number");
  });
});
