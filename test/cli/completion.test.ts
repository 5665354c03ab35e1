import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../support/runtime.js";
import { hermes, linesOf } from "./hermes.js";

async function offered(words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await hermes(["complete", "--", ...words]);
  return linesOf(stdout).map((line) => line.split("\t", 1)[0] ?? "");
}

describe("shell completion", () => {
  it.each(["bash", "zsh", "fish"])("prints a script for %s that the shell can read", async (shell) => {
    const done = await hermes(["completion", shell]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain("hermes");
    const script = join(tempDir(), `hermes.${shell}`);
    writeFileSync(script, done.stdout);
    const checked = spawnSync(shell, ["-n", script], { encoding: "utf8" });
    // A shell that is not installed cannot object; bash is, wherever the product runs.
    if (shell === "bash" || checked.error === undefined)
      expect(checked).toMatchObject({ status: 0, stderr: "" });
  });

  it("works with flags before the command too", async () => {
    const [plain, flagged] = await Promise.all([
      hermes(["completion", "bash"]),
      hermes(["--no-color", "completion", "bash"]),
    ]);
    expect(flagged.stdout).toBe(plain.stdout);
  });

  it("offers commands, tools and toolsets where they belong", async () => {
    expect(await offered(["call", "re"])).toContain("read_file");
    expect(await offered(["do"])).toContain("doctor");
    expect(await offered(["tools", "info", "sl"])).toContain("sleep");
    expect(await offered(["tools", "disable", "sl"])).toContain("sleep");
    expect(await offered(["toolsets", "fi"])).toContain("file");
    expect(await offered(["tools", "ch"])).toContain("check");
    expect(await offered(["call", "re"])).not.toContain("sleep");
  });
});
