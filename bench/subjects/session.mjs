// A session of the product in a home of its own; what is asked is allowed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export async function openSession({ dist, cwd, flags = {} }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const runtime = await createRuntime({
    home,
    cwd: cwd ?? home,
    systemDir: join(home, "system"),
    userTools: false,
    journal: false,
    env: process.env,
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...flags },
  });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  return {
    async call(name, args) {
      const result = await session.call({ name, arguments: args });
      if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result).slice(0, 1_000)}`);
      return result;
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
