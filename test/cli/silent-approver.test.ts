import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { outcomeOf, plainEnvironment, root, tempFolder } from "./hermes.js";

it("an approver that never answers ends in a denial, also when nothing else keeps the process alive", async () => {
  const home = tempFolder();
  const program = join(home, "program.mjs");
  writeFileSync(
    program,
    `import { createRuntime } from ${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)};
     const runtime = await createRuntime({ home: process.env.HERMES_HOME, cwd: process.env.HERMES_HOME });
     const session = await runtime.openSession({ approver: { ask: () => new Promise(() => undefined) } });
     const result = await session.call({ name: "terminal", arguments: { command: "rm -rf x" } });
     console.log(JSON.stringify(result.error));
     await runtime.close();`,
  );
  writeFileSync(join(home, "config.yaml"), "approvals:\n  timeout: 1\n");
  const child = spawn(process.execPath, [program], { cwd: home, env: plainEnvironment(home) });
  const done = await outcomeOf(child);
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(done.stdout)).toMatchObject({ code: "timed_out_waiting" });
});
