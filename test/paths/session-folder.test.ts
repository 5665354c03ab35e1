import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";

async function openSession() {
  const folder = realpathSync(tempDir());
  mkdirSync(join(folder, "sub"));
  const { runtime } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession({ cwd: folder });
  const call = (name: string, args: object) => session.call({ name, arguments: args });
  const shell = async (command: string, more: object = {}) => {
    const result = await call("terminal", { command, ...more });
    return { ...result, out: result.structured as { output: string; cwd: string; exit_code: number } };
  };
  return { folder, runtime, session, call, shell };
}

describe("a session's folder and variables", () => {
  test("move with its commands, and file tools follow", async () => {
    const { folder, session, call, shell } = await openSession();
    await shell("cd sub && export COLOUR='dark blue'");
    expect(session.cwd).toBe(join(folder, "sub"));
    expect((await shell('echo "$PWD $COLOUR"')).out.output).toBe(`${folder}/sub dark blue\n`);
    expect((await call("write_file", { path: "note.txt", content: "here\n" })).ok).toBe(true);
    expect(readFileSync(join(folder, "sub/note.txt"), "utf8")).toBe("here\n");
    await shell("unset COLOUR");
    expect((await shell('echo "[$COLOUR]"')).out.output).toBe("[]\n");
  });

  test("a call with a folder of its own does not move the session", async () => {
    const { folder, session, shell } = await openSession();
    const there = await shell("pwd; cd ..; export SEEN=1", { workdir: "sub" });
    expect(there.out.output).toBe(`${folder}/sub\n`);
    expect(session.cwd).toBe(folder);
    expect((await shell("echo $SEEN")).out.output).toBe("1\n");
  });

  test("a call that waited while the session moved is judged and run for where it is now", async () => {
    const { folder, call, shell } = await openSession();
    const moving = shell("touch begun; sleep 0.4; cd sub");
    await vi.waitUntil(() => existsSync(join(folder, "begun")));
    const waiting = call("write_file", { path: "late.txt", content: "x" });
    expect((await moving).ok).toBe(true);
    expect((await waiting).ok).toBe(true);
    expect(existsSync(join(folder, "sub/late.txt"))).toBe(true);
    expect(existsSync(join(folder, "late.txt"))).toBe(false);
  });

  test("what would be asked about where the session went is not run unasked", async () => {
    const { folder, call, shell } = await openSession();
    const moving = shell("touch begun; sleep 0.4; cd /etc");
    await vi.waitUntil(() => existsSync(join(folder, "begun")));
    const waiting = call("write_file", { path: "hermes-test-late.txt", content: "x" });
    await moving;
    expect(await waiting).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(existsSync("/etc/hermes-test-late.txt")).toBe(false);
  });

  test("a child begins where its parent stands and moves alone", async () => {
    const { folder, session, shell } = await openSession();
    await shell("cd sub; export A=1");
    const child = session.openChild();
    const told = await child.call({ name: "terminal", arguments: { command: "echo $A; cd ..; export A=2" } });
    expect(told.structured).toMatchObject({ output: "1\n" });
    expect(child.cwd).toBe(folder);
    expect(session.cwd).toBe(join(folder, "sub"));
    expect((await shell("echo $A")).out.output).toBe("1\n");
    child.close();
  });

  test("a folder that is gone is said once, and the session goes on in what is left", async () => {
    const { folder, session, shell } = await openSession();
    await shell("cd sub");
    rmSync(join(folder, "sub"), { recursive: true });
    const gone = await shell("touch lost");
    expect(gone).toMatchObject({ ok: false });
    expect(gone.error?.message).toContain("does not exist any more; nothing was run");
    expect(session.cwd).toBe(folder);
    expect(existsSync(join(folder, "lost"))).toBe(false);
    expect((await shell("pwd")).out.output).toBe(`${folder}\n`);
  });

  test("a command that was ended leaves no trace in the session's memory", async () => {
    const { folder, session, shell } = await openSession();
    await shell("cd sub; export LEFT=1; sleep 20", { timeout: 1 });
    expect(session.cwd).toBe(folder);
    expect((await shell('echo "[$LEFT]"')).out.output).toBe("[]\n");
  });
});
