import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { codeBlocks, hermesCommands } from "./doc-commands.js";
import { typed } from "./shell.js";

const home = tempFolder();
const VERDICT = /^(safe|danger|hardline)\b/;

describe("docs/approvals.md", () => {
  it.each(hermesCommands("docs/approvals.md"))(
    "$line does what its comment says",
    async ({ line, comment }) => {
      const done = await typed(line, { home, cwd: home });
      expect(done).toMatchObject({ code: 0, stderr: "" });
      const [announced] = VERDICT.exec(comment) ?? [];
      if (announced !== undefined) expect(VERDICT.exec(done.stdout)?.[0]).toBe(announced);
      else expect(done.stdout).not.toBe("");
    },
  );

  it("its approver runs as it stands", async () => {
    const [library = ""] = codeBlocks("docs/approvals.md", "ts");
    const program = tempFolder();
    mkdirSync(join(program, "node_modules"));
    symlinkSync(root, join(program, "node_modules", "hermes-tools"));
    const calls = `
      const call = async (command) => (await session.call({ name: "terminal", arguments: { command } })).decision;
      console.log(JSON.stringify([await call("git branch -D nothing-of-that-name"), await call("rm -rf x")]));
      await runtime.close();`;
    writeFileSync(join(program, "approver.mjs"), library.replace("await runtime.close();", calls));
    const child = spawn(process.execPath, ["approver.mjs"], { cwd: program, env: plainEnvironment(home) });
    const { stdout, code } = await outcomeOf(child);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ answer: "once" }, { answer: "deny" }]);
  });
});
