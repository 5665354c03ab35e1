import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { outOf, shell } from "./shell.js";

const hasGit = spawnSync("git", ["--version"]).status === 0;

describe.runIf(process.platform === "linux")(
  "lesson 25: what waits for a person says so and does not hang",
  () => {
    it.each([
      ["a password", "read -s -p 'Password: ' x", "password"],
      ["a confirmation", "read -p 'Do you want to continue? [Y/n] ' x", "confirmation"],
      ["a pager", "seq 1 500 | less", undefined],
      ["an interpreter", "python3 -q", "interpreter"],
    ])("%s", async (_what, command, wanted) => {
      const { call } = await shell();
      const asking = outOf(await call("terminal", { command, pty: true, timeout: 30 }));
      expect(asking).toMatchObject({ status: "needs_input", exit_code: null });
      if (wanted !== undefined) expect(asking.wanted_input).toBe(wanted);
      const { session_id } = asking;
      expect((await call("process", { action: "kill", session_id })).structured).toMatchObject({
        status: "exited",
      });
    });

    it.runIf(hasGit)("an editor that git opens: the screen shows it, and keys finish it", async () => {
      const { call, run } = await shell();
      const set = "git init -q . && git config user.email a@b.c && git config user.name A";
      await run(`${set} && for i in 1 2 3; do git commit -q --allow-empty -m "change $i"; done`);
      const command =
        'GIT_EDITOR=\'python3 -c "import sys; print(open(sys.argv[1]).read()); input(\\"done? \\")"\' git rebase -i HEAD~2';
      const asking = outOf(await call("terminal", { command, pty: true, timeout: 60 }));
      expect(asking.status).toBe("needs_input");
      expect(asking.screen ?? asking.output).toContain("pick");
      const { session_id } = asking;
      await call("process", { action: "submit", session_id, data: "yes" });
      const done = await call("process", { action: "wait", session_id, timeout: 30 });
      expect(done.structured).toMatchObject({ status: "exited", exit_code: 0 });
    });

    it("without a terminal the same programs end by themselves", async () => {
      const { run } = await shell();
      for (const command of [
        "python3 -q",
        "read -s -p 'Password: ' x; true",
        "seq 1 500 | less > /dev/null",
      ]) {
        const result = outOf(await run(command, { timeout: 20 }));
        expect(result.exit_code).toBe(0);
      }
    });
  },
);
