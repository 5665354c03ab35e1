import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";

async function openSession(options: { readonly config?: string; readonly yolo?: boolean } = {}) {
  const home = tempDir();
  const cwd = tempDir();
  mkdirSync(join(cwd, "build"));
  writeFileSync(join(home, "config.yaml"), (options.config ?? "").replaceAll("PROJECT", cwd));
  const { runtime } = await testRuntime([], { builtins: true, home, cwd, yolo: options.yolo === true });
  return { session: await runtime.openSession(), cwd };
}

describe("a command is judged where it runs", () => {
  it.each(["rm -rf *", "rm -rf ./*", "rm -rf .", "rm -rf etc usr"])(
    "%s in the root folder is never run, not even with --yolo",
    async (command) => {
      const { session } = await openSession({ yolo: true });
      const { decision } = await session.explainCall({
        name: "terminal",
        arguments: { command, workdir: "/" },
      });
      expect(decision).toMatchObject({ verdict: "deny" });
      const here = await session.explainCall({ name: "terminal", arguments: { command: "rm -rf *" } });
      expect(here.decision).toMatchObject({ verdict: "allow" });
    },
  );

  const config = "command_allowlist:\n  - command: rm -rf build\n    scope: PROJECT\n";

  it("a grant for a folder covers the command there", async () => {
    const { session, cwd } = await openSession({ config });
    for (const command of ["rm -rf build", `cd ${cwd} && rm -rf build`, "timeout 5 rm -rf build"]) {
      const { decision } = await session.explainCall({ name: "terminal", arguments: { command } });
      expect(decision, command).toMatchObject({ verdict: "allow" });
    }
  });

  it.each([
    "cd / && rm -rf build",
    "c'd' / && rm -rf build",
    "c\\d / && rm -rf build",
    "\u0024{x:-cd} / && rm -rf build",
    "eval 'c''d /' && rm -rf build",
    "X=cd; $X /; rm -rf build",
    "pushd / && rm -rf build",
    "(cd /; rm -rf build)",
    "env -C / rm -rf build",
    "chroot /mnt rm -rf build",
    "systemd-run rm -rf build",
    "sudo rm -rf build",
    "ssh prod rm -rf build",
  ])("and not when it runs elsewhere: %s", async (command) => {
    const { session } = await openSession({ config });
    const { decision } = await session.explainCall({ name: "terminal", arguments: { command } });
    expect(decision?.verdict).not.toBe("allow");
  });

  it("nor with another workdir", async () => {
    const { session } = await openSession({ config });
    const elsewhere = { command: "rm -rf build", workdir: tempDir() };
    const { decision } = await session.explainCall({ name: "terminal", arguments: elsewhere });
    expect(decision).toMatchObject({ verdict: "ask" });
  });
});
