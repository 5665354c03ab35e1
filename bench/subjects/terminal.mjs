// The product's `terminal` tool, as a session calls it: validation, policy, environment, bounded result.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { grow } from "../grow.mjs";
import { oneByOne } from "../operations.mjs";

/**
 * `dist`: the build to measure. `environment`: where commands run. `settings`: lines below `terminal:` of the
 * configuration. `env`: variables on top of this process's own. `megabytes`: memory held meanwhile. `journal`:
 * whether calls are written down. `collector`: where traces are sent.
 */
export async function open({
  dist,
  environment,
  settings = [],
  env = {},
  megabytes,
  journal = false,
  collector,
}) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  if (collector !== undefined) process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector;
  const held = grow(megabytes);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const work = join(home, "work");
  mkdirSync(work);
  writeFileSync(
    join(home, "config.yaml"),
    [
      "approvals:",
      "  mode: off",
      "terminal:",
      "  timeout: 60",
      ...settings.map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );
  const runtime = await createRuntime({
    home,
    cwd: work,
    systemDir: join(home, "system"),
    userTools: false,
    journal,
    env: { ...process.env, ...env },
  });
  const session = await runtime.openSession(environment === undefined ? {} : { environment });
  const terminal = async (args, says) => {
    const result = await session.call({ name: "terminal", arguments: args });
    const output = result.structured?.output;
    if (result.ok && typeof output === "string" && output.includes(says)) return;
    throw new Error(`terminal ${JSON.stringify(args)} answered ${JSON.stringify(result).slice(0, 1_000)}`);
  };
  return {
    operations: {
      trivial: oneByOne(() => terminal({ command: "true" }, "")),
      echo: oneByOne(() => terminal({ command: "echo hi" }, "hi\n")),
      pty: oneByOne(() => terminal({ command: "echo hi", pty: true }, "hi")),
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
      held.free();
    },
  };
}
