import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expandKeys } from "../../src/env/pty/keys.js";
import { needs } from "../support/needs.js";
import { endAll, eventually, inTerminal, type Started } from "./support.js";

afterEach(endAll);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-waiting-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function waits({ process: one }: Started): Promise<void> {
  expect(
    await eventually(
      () => one.waitsForInput(),
      (answer) => answer === true,
    ),
  ).toBe(true);
}

async function neverWaits({ process: one }: Started): Promise<void> {
  for (let look = 0; look < 5; look += 1) {
    expect(await one.waitsForInput()).toBe(false);
    await delay(30);
  }
}

describe.runIf(process.platform === "linux")("a program in a terminal waits for input", () => {
  it("when a shell reads a line, and not any more once it has it", async () => {
    const one = await inTerminal("read -r x; sleep 5");
    await waits(one);
    await one.process.write("answer\n");
    await eventually(
      () => one.process.waitsForInput(),
      (answer) => answer === false,
    );
    await neverWaits(one);
  });

  it("when it asks for a password without showing it", async () => {
    const one = await inTerminal("read -r -s -p 'Password: ' x; echo; [[ $x == secret ]] && echo got it");
    await waits(one);
    await one.process.write("secret\n");
    await one.process.ended;
    expect(one.output()).toContain("got it");
    expect(one.output()).not.toContain("secret");
  });

  it("when it opens the terminal by the name /dev/tty", async () => {
    await waits(await inTerminal("echo data | { read -r key < /dev/tty; }"));
  });

  it("when it polls or selects several files, and not when only others are among them", async (context) => {
    needs(context, "python3");
    const program = (call: string) => `
import select, os, sys
r, w = os.pipe()
${call}`;
    const python = (call: string) => inTerminal(["python3", "-c", program(call)]);
    await waits(await python("select.select([r, 0], [], [])"));
    await waits(await python("p = select.poll(); p.register(r, 1); p.register(0, 1); p.poll()"));
    await waits(await python("p = select.epoll(); p.register(r, 1); p.register(0, 1); p.poll()"));
    await endAll();
    const others = [
      await python("select.select([r], [], [])"),
      await python("p = select.poll(); p.register(r, 1); p.poll()"),
      await python("p = select.epoll(); p.register(r, 1); p.poll()"),
      await python("os.read(r, 1)"),
    ];
    await delay(300);
    await Promise.all(others.map(neverWaits));
  });

  it("when a thread of it reads", async (context) => {
    needs(context, "python3");
    const program =
      "import threading, time, sys\nthreading.Thread(target=sys.stdin.readline).start()\ntime.sleep(20)";
    await waits(await inTerminal(["python3", "-c", program]));
  });

  it("when an interpreter shows its prompt", async (context) => {
    await waits(await inTerminal([process.execPath, "-i"]));
    needs(context, "python3");
    const python = await inTerminal(["python3", "-q"]);
    await waits(python);
    await python.process.write(expandKeys("print(6*7)<enter>"));
    await eventually(
      () => python.screen.text(),
      (text) => text.includes("42"),
    );
    await waits(python);
    await python.process.closeInput();
    expect(await python.process.ended).toEqual({ exitCode: 0 });
  }, 30_000);

  it("when a pager shows a page", async (context) => {
    needs(context, "less");
    await waits(await inTerminal("seq 1 500 | less"));
  });

  it("when git opens an editor for a rebase", async (context) => {
    needs(context, "vi", "git");
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], { cwd: folder });
    git("init", "-q");
    for (const name of ["a", "b", "c"]) {
      writeFileSync(join(folder, name), name);
      git("add", name);
      git("commit", "-q", "-m", name);
    }
    const one = await inTerminal(["git", "-c", "sequence.editor=vi", "rebase", "-i", "HEAD~2"], {
      cwd: folder,
    });
    await waits(one);
    // It also listens to the terminal while it starts, before it has drawn anything.
    await eventually(
      () => one.screen.text(),
      (text) => text.includes("pick"),
    );
    await waits(one);
    await one.process.write(expandKeys("<esc>:cq!<enter>"));
    expect((await one.process.ended).exitCode).not.toBe(0);
  });

  it("but not when it sleeps, computes, or waits for its own child", async () => {
    const asleep = await inTerminal("sleep 5; true");
    const busy = await inTerminal("while :; do :; done");
    await delay(100);
    await neverWaits(asleep);
    await neverWaits(busy);
  });
});
