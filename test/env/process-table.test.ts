import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect, test } from "vitest";
import { EXEC_MARK } from "../../src/env/local/marks.js";
import { marked, processTable } from "../../src/env/local/process-table.js";

test.runIf(process.platform === "linux")(
  "a process is found by its mark at every moment, also while it becomes another program",
  async () => {
    const mark = randomUUID();
    const again = 'exec bash -c "$AGAIN"';
    const env = { PATH: process.env.PATH, AGAIN: again, [EXEC_MARK]: mark };
    const child = spawn("bash", ["-c", again], { env, stdio: "ignore" });
    await once(child, "spawn");
    const row = (await processTable())?.find(({ pid }) => pid === child.pid);
    if (row === undefined) throw new Error("it is not there");
    let lost = 0;
    for (let round = 0; round < 300; round += 1) if (!(await marked([row])).has(mark)) lost += 1;
    child.kill("SIGKILL");
    expect(lost).toBe(0);
  },
);
