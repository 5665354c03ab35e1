import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { main, plainEnvironment, tempFolder } from "./hermes.js";

const PROMPT = "Choice [o/s/D]: ";
const ESCAPE = "\u001b";
const hasScript = spawnSync("script", ["--version"]).status === 0;

interface Conversation {
  readonly code: number | null;
  readonly screen: string;
  readonly questions: number;
}

/** Runs hermes on a terminal of its own and types an answer at every question. */
function onTerminal(
  args: readonly string[],
  options: { readonly home: string; readonly type: readonly string[] },
): Promise<Conversation> {
  const quoted = [process.execPath, main, ...args]
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(" ");
  const child = spawn("script", ["-qefc", quoted, "/dev/null"], {
    cwd: options.home,
    env: { ...plainEnvironment(options.home), TERM: "xterm", SHELL: "/bin/bash" },
    stdio: "pipe",
  });
  let screen = "";
  let questions = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    screen += chunk;
    const asked = screen.split(PROMPT).length - 1;
    for (; questions < asked; questions += 1) child.stdin.write(options.type[questions] ?? "\r");
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, screen, questions }));
  });
}

function homeWithFolder(): { readonly home: string; readonly folder: string } {
  const home = tempFolder();
  const folder = join(home, "precious");
  mkdirSync(folder);
  return { home, folder };
}

function needsScript(skip: TestContext["skip"]): void {
  if (!hasScript) skip("needs a terminal: apt-get install bsdutils (the program `script`)");
}

const REMOVE = ["call", "terminal", "command=rm -rf precious"] as const;

describe("the approval prompt", () => {
  it.for([
    { key: "Enter", type: "\r", code: 5 },
    { key: "a word it does not know", type: "yes please\r", code: 5 },
    { key: "d", type: "d\r", code: 5 },
    { key: "Ctrl-D", type: "\u0004", code: 5 },
    { key: "Ctrl-C", type: "\u0003", code: 130 },
  ])("denies on $key", async ({ type, code }, { skip }) => {
    needsScript(skip);
    const { home, folder } = homeWithFolder();
    const done = await onTerminal(REMOVE, { home, type: [type] });
    expect(done.questions).toBe(1);
    expect(done.screen).toContain("recursive delete");
    expect(done.screen).toContain("rm -rf precious");
    expect(done.code).toBe(code);
    expect(existsSync(folder)).toBe(true);
  });

  it("runs the command on o", async ({ skip }) => {
    needsScript(skip);
    const { home, folder } = homeWithFolder();
    const done = await onTerminal(REMOVE, { home, type: ["o\r"] });
    expect(done).toMatchObject({ code: 0, questions: 1 });
    expect(existsSync(folder)).toBe(false);
  });

  it("asks once for a whole session on s, and for every call on o", async ({ skip }) => {
    needsScript(skip);
    const { home } = homeWithFolder();
    const call = (id: string, command: string) => ({
      id,
      function: { name: "terminal", arguments: { command } },
    });
    const request = join(home, "request.json");
    writeFileSync(request, JSON.stringify({ tool_calls: [call("1", "rm -rf a"), call("2", "rm -rf b")] }));
    const session = await onTerminal(["run", request], { home, type: ["s\r", "d\r"] });
    expect(session).toMatchObject({ code: 0, questions: 1 });
    expect(session.screen.match(/"exit_code":0/g)).toHaveLength(2);
    const once = await onTerminal(["run", request], { home, type: ["o\r", "d\r"] });
    expect(once.questions).toBe(2);
    expect(once.screen.match(/"exit_code":0/g)).toHaveLength(1);
  });

  it("shows control characters as what they are, so that nothing can hide", async ({ skip }) => {
    needsScript(skip);
    const { home } = homeWithFolder();
    const command = `rm -rf a${ESCAPE}[2K\rls \u202eb`;
    const done = await onTerminal(["call", "terminal", JSON.stringify({ command })], { home, type: ["\r"] });
    expect(done.code).toBe(5);
    expect(done.screen).toContain("\\u{1b}[2K\\u{d}ls \\u{202e}b");
    expect(done.screen).not.toContain(`${ESCAPE}[2K`);
    const path = `/var/hermes-nowhere/${ESCAPE}]0;x`;
    const written = await onTerminal(["call", "write_file", `path=${path}`, "content=x"], {
      home,
      type: ["\r"],
    });
    expect(written.screen).toContain("\\u{1b}]0;x");
    expect(written.screen).not.toContain(`${ESCAPE}]0`);
  });

  it("is not drawn over by the progress line", async ({ skip }) => {
    needsScript(skip);
    const { home } = homeWithFolder();
    const script = spawn(
      "script",
      ["-qefc", `'${process.execPath}' '${main}' call terminal 'command=rm -rf x'`, "/dev/null"],
      {
        cwd: home,
        env: { ...plainEnvironment(home), TERM: "xterm", SHELL: "/bin/bash" },
        stdio: "pipe",
      },
    );
    let screen = "";
    let waiting: string | undefined;
    script.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      screen += chunk;
      if (!screen.includes(PROMPT) || waiting !== undefined) return;
      waiting = "";
      setTimeout(() => {
        // What was on the screen up to the answer; afterwards the line may come back.
        waiting = screen.slice(screen.indexOf(PROMPT));
        script.stdin.write("\r");
      }, 600);
    });
    await new Promise((resolve) => script.once("close", resolve));
    expect(waiting).toContain(PROMPT);
    expect(waiting).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u);
  });

  it("shows a live line for a call that takes a while", async ({ skip }) => {
    needsScript(skip);
    const { home } = homeWithFolder();
    const done = await onTerminal(["call", "sleep", "seconds=0.8"], { home, type: [] });
    expect(done.screen).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .*sleep {2}0\.8 {2}0\.\ds/u);
    expect(done.screen).toMatch(/✓.* .*sleep {2}0\.8 {2}\d\.\ds/u);
  });
});
