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
    let lost = 0;
    for (let round = 0; round < 300; round += 1) {
      const row = (await processTable())?.find(({ pid }) => pid === child.pid);
      if (row === undefined) throw new Error("it is not there");
      if (!(await marked([row])).has(mark)) lost += 1;
    }
    child.kill("SIGKILL");
    expect(lost).toBe(0);
  },
);

test.runIf(process.platform === "linux")(
  "a process that was looked at without a mark, or with another one, is found by the mark of the program it becomes",
  async () => {
    const marks = [randomUUID(), randomUUID()];
    const next = (mark: string, then: string) => `read -r; exec env ${EXEC_MARK}=${mark} bash -c '${then}'`;
    const child = spawn(
      "bash",
      ["-c", next(marks[0] ?? "", next(marks[1] ?? "", "read -r; exit").replaceAll("'", `'\\''`))],
      {
        env: { PATH: process.env.PATH },
        stdio: ["pipe", "ignore", "ignore"],
      },
    );
    const markNow = async () =>
      [...(await marked((await processTable()) ?? []))].find(([, rows]) =>
        rows.some(({ pid }) => pid === child.pid),
      )?.[0];
    try {
      expect(await markNow()).toBeUndefined();
      for (const mark of marks) {
        child.stdin.write("\n");
        await expect.poll(markNow).toBe(mark);
        expect(await markNow()).toBe(mark);
      }
    } finally {
      child.kill("SIGKILL");
    }
  },
);
