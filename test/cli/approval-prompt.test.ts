import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApprovalReply, ApprovalRequest } from "../../src/call/scope.js";
import { main, root, tempFolder } from "./hermes.js";
import { type Conversation, needsTerminal, onTerminal } from "./terminal.js";

const ESCAPE = "\u001b";

function homeWithFolder(): { readonly home: string; readonly folder: string } {
  const home = tempFolder();
  const folder = join(home, "precious");
  mkdirSync(folder);
  return { home, folder };
}

const hermesOn = (home: string, args: readonly string[], type: readonly string[]) =>
  onTerminal([process.execPath, main, ...args], { home, type });

const REMOVE = ["call", "terminal", "command=rm -rf precious"] as const;

describe("a command that needs approval, on a terminal", () => {
  it.for([
    { key: "Enter", type: ["\r"], code: 5 },
    { key: "a word it does not know, then Enter", type: ["yes please\r", "\r"], code: 5 },
    { key: "?, then d", type: ["?\r", "d\r"], code: 5 },
    { key: "d", type: ["d\r"], code: 5 },
    { key: "Ctrl-D", type: ["\u0004"], code: 5 },
    { key: "Ctrl-C", type: ["\u0003"], code: 130 },
  ])("is denied on $key", async ({ type, code }, { skip }) => {
    needsTerminal(skip);
    const { home, folder } = homeWithFolder();
    const done = await hermesOn(home, REMOVE, type);
    expect(done.questions).toBe(type.length);
    expect(done.screen).toContain("deletes a folder");
    expect(done.screen).toContain("rm -rf precious");
    expect(done.code).toBe(code);
    expect(existsSync(folder)).toBe(true);
  });

  it("runs on o", async ({ skip }) => {
    needsTerminal(skip);
    const { home, folder } = homeWithFolder();
    const done = await hermesOn(home, REMOVE, ["o\r"]);
    expect(done).toMatchObject({ code: 0, questions: 1 });
    expect(existsSync(folder)).toBe(false);
  });

  it("is asked about once for a whole session on s, and for every call on o", async ({ skip }) => {
    needsTerminal(skip);
    const { home } = homeWithFolder();
    const call = (id: string, command: string) => ({
      id,
      function: { name: "terminal", arguments: { command } },
    });
    const request = join(home, "request.json");
    writeFileSync(request, JSON.stringify({ tool_calls: [call("1", "rm -rf a"), call("2", "rm -rf b")] }));
    const session = await hermesOn(home, ["run", request], ["s\r", "d\r"]);
    expect(session).toMatchObject({ code: 0, questions: 1 });
    expect(session.screen.match(/"state":"done"/g)).toHaveLength(2);
    const once = await hermesOn(home, ["run", request], ["o\r", "d\r"]);
    expect(once.questions).toBe(2);
    expect(once.screen.match(/"state":"done"/g)).toHaveLength(1);
  });

  it("shows control characters of paths as what they are", async ({ skip }) => {
    needsTerminal(skip);
    const { home } = homeWithFolder();
    const path = `/var/hermes-nowhere/${ESCAPE}]0;x`;
    const written = await hermesOn(home, ["call", "write_file", `path=${path}`, "content=x"], ["\r"]);
    expect(written.screen).toMatch(/\\u\{1b\}(?:\x1b\[27m)?\]0;x/);
    expect(written.screen).not.toContain(`${ESCAPE}]0`);
  });

  it("is not drawn over by the progress line", async ({ skip }) => {
    needsTerminal(skip);
    const { home } = homeWithFolder();
    // Nothing typed: the denial comes with the end of the time, after a while of waiting.
    writeFileSync(join(home, "config.yaml"), "approvals:\n  timeout: 2\n");
    const done = await hermesOn(home, REMOVE, []);
    const waiting = done.screen.slice(
      done.screen.indexOf("Choice ["),
      done.screen.indexOf("No answer in time"),
    );
    expect(waiting).toContain("1 s left");
    expect(waiting).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u);
  });

  it("that is approved shows a live line while it runs", async ({ skip }) => {
    needsTerminal(skip);
    const { home } = homeWithFolder();
    const done = await hermesOn(home, ["call", "sleep", "seconds=0.8"], []);
    expect(done.screen).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .*sleep {2}0\.8 {2}0\.\ds/u);
    expect(done.screen).toMatch(/✓.* .*sleep {2}0\.8 {2}\d\.\ds/u);
  });
});

describe("the approval prompt", () => {
  let folder = "";
  let script = "";

  beforeAll(async () => {
    // Node 20 cannot import TypeScript, so the asker is bundled, inside node_modules where its packages are found.
    const cache = join(root, "node_modules/.cache/hermes-tools");
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, "ask-"));
    script = join(folder, "ask.mjs");
    await build({
      input: join(root, "test/fixtures/approval-prompt/ask.ts"),
      platform: "node",
      output: { file: script, format: "esm", codeSplitting: false },
      logLevel: "silent",
    });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function ask(
    question: Partial<ApprovalRequest> & { readonly seconds?: number },
    type: readonly string[],
    options: Partial<Parameters<typeof onTerminal>[1]> = {},
  ): Promise<Conversation & { readonly reply: ApprovalReply }> {
    const { env, ...rest } = options;
    const done = await onTerminal([process.execPath, script], {
      home: tempFolder(),
      type,
      ...rest,
      env: { QUESTION: JSON.stringify(question), ...env },
    });
    const reply = /REPLY (.*)/.exec(done.screen)?.[1];
    if (reply === undefined) throw new Error(`no reply on the screen: ${JSON.stringify(done.screen)}`);
    return { ...done, reply: JSON.parse(reply.trim()) as ApprovalReply };
  }

  it.for<[string, readonly string[], Partial<ApprovalReply>]>([
    ["o", ["o\r"], { answer: "once" }],
    ["ONCE", ["ONCE\r"], { answer: "once" }],
    ["s", ["s\r"], { answer: "session" }],
    ["a, Enter", ["a\r", "\r"], { answer: "always" }],
    ["a, e", ["a\r", "e\r"], { answer: "always" }],
    ["a, w", ["a\r", "w\r"], { answer: "always", widen: true }],
    ["a, d", ["a\r", "d\r"], { answer: "deny" }],
    ["a, a", ["a\r", "a\r"], { answer: "deny" }],
    ["a, Ctrl-D", ["a\r", "\u0004"], { answer: "deny" }],
    ["Enter", ["\r"], { answer: "deny" }],
    ["y, Enter", ["y\r", "\r"], { answer: "deny" }],
    ["w, o", ["w\r", "o\r"], { answer: "once" }],
    ["v, Enter", ["v\r", "\r"], { answer: "deny" }],
    ["v, o", ["v\r", "o\r"], { answer: "once" }],
    ["Ctrl-C", ["\u0003"], { answer: "deny" }],
  ])("takes %s as it is meant", async ([, type, expected], { skip }) => {
    needsTerminal(skip);
    const { reply, questions } = await ask({}, type);
    expect(reply).toEqual({ by: "terminal", ...expected });
    expect(questions).toBe(type.length);
  });

  it("says what session and always would cover before either can be chosen", async ({ skip }) => {
    needsTerminal(skip);
    const { screen } = await ask({}, ["a\r", "d\r"]);
    expect(screen).toContain("session  would cover every call asked about for rm.recursive");
    expect(screen).toMatch(/always {3}would remember\s+│ rm -rf precious/);
    expect(screen).toContain("widen    remembers for good every call asked about for rm.recursive");
    expect(screen).toContain("environment local, folder /somewhere");
    expect(screen).toContain("rule     rm.recursive");
  });

  it("offers neither always nor session where there is nothing to remember", async ({ skip }) => {
    needsTerminal(skip);
    const noAlways = await ask({ remember: [] }, ["a\r", "d\r"]);
    expect(noAlways.screen).not.toContain("[a]lways");
    expect(noAlways.reply.answer).toBe("deny");
    const onlyOnce = await ask({ remember: [], sessionKeys: [] }, ["s\r", "d\r"]);
    expect(onlyOnce.screen).not.toContain("[s]ession");
    expect(onlyOnce.reply.answer).toBe("deny");
  });

  it("what was typed before the question was shown does not answer it", async ({ skip }) => {
    needsTerminal(skip);
    const { reply, questions } = await ask({}, ["\r"], { typeAhead: "o\ro\r" });
    expect(reply.answer).toBe("deny");
    expect(questions).toBe(1);
  });

  it("counts down and denies at the end", async ({ skip }) => {
    needsTerminal(skip);
    const { reply, screen } = await ask({ seconds: 2.5 }, []);
    expect(reply.answer).toBe("deny");
    expect(screen).toContain("3 s left");
    expect(screen).toContain("1 s left");
    expect(screen).toContain("No answer in time: denied.");
  });

  it("what is half typed stays while the countdown is drawn, and counts when it is finished", async ({
    skip,
  }) => {
    needsTerminal(skip);
    const { reply, screen } = await ask({ seconds: 2.5 }, ["onc"]);
    expect(reply.answer).toBe("deny");
    expect(screen).toMatch(/1 s left: onc/);
  });

  it("shows every character, also those that hide", async ({ skip }) => {
    needsTerminal(skip);
    const command = `rm -rf a${ESCAPE}[2K\rls \u202eb\u200b\u3164\u00a0\u{e0041}\u0000\u009b31m\ufe0f`;
    const { screen } = await ask({ args: { command }, effects: [] }, ["\r"], {
      columns: 200,
      env: { NO_COLOR: "1" },
    });
    expect(screen).toContain(
      "rm -rf a\\u{1b}[2K\\u{d}ls \\u{202e}b\\u{200b}\\u{3164}\\u{a0}\\u{e0041}\\u{0}\\u{9b}31m\\u{fe0f}",
    );
    expect(screen).not.toContain(`${ESCAPE}[2K`);
    expect(screen).not.toMatch(/[\u202e\u200b\u3164\u00a0\u009b]/);
  });

  it("no text can leave its bar, however long its lines are", async ({ skip }) => {
    needsTerminal(skip);
    const fake = "   Choice [o/s/a/v/D], 9 s left: \n   always   would remember";
    const command = `echo ${"x".repeat(200)}${" ".repeat(143)}${fake}\n${fake}`;
    const { screen } = await ask({ args: { command }, effects: [] }, ["v\r", "\r"], {
      columns: 60,
      env: { NO_COLOR: "1" },
    });
    const plain = screen.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, "");
    const lines = plain.split(/\r?\n/);
    for (const line of lines.filter((text) => text.includes("9 s left"))) expect(line).toMatch(/^ {3}│ /);
    expect(lines.filter((line) => /^ {3}always {3}would remember$/.test(line))).toHaveLength(2);
    for (const line of lines.filter((text) => text.startsWith("   │ ")))
      expect(line.length).toBeLessThanOrEqual(60);
  });

  it("no field can be made to look like another line of the prompt by wrapping", async ({ skip }) => {
    needsTerminal(skip);
    const fake = `${"x".repeat(58)}   always   would remember nothing${" ".repeat(60)}   Choice [o], 9 s left: `;
    const { screen } = await ask(
      {
        reason: fake,
        rule: fake,
        session: { id: "s", profile: "p", cwd: `/${fake}`, workspace: "/" },
        effects: [{ action: "file:write", resource: fake, mode: "write" }],
        segments: [{ text: fake, canonical: fake, verdict: "danger", rule: "r", reason: fake }],
        review: fake,
      },
      ["\r"],
      { columns: 60, env: { NO_COLOR: "1" } },
    );
    const lines = screen.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, "").split(/\r?\n/);
    for (const line of lines) {
      expect(line).not.toMatch(/^ {0,6}(?:always {3}would remember nothing|Choice \[o\])/);
      if (!line.startsWith("REPLY")) expect(line.length).toBeLessThanOrEqual(62);
    }
  });

  it("shows both ends of a long command with its length, and all of it on v", async ({ skip }) => {
    needsTerminal(skip);
    const command = `${"a".repeat(3_000)}MIDDLE${"b".repeat(3_000)}; rm -rf the-end`;
    const { screen } = await ask({ args: { command }, effects: [] }, ["v\r", "\r"], { columns: 8_000 });
    const [, before = "", after = ""] = screen.split("asks for approval");
    expect(before).toContain(`command  (${command.length} characters)`);
    expect(before).toContain("aaaa");
    expect(before).toContain("; rm -rf the-end");
    expect(before).toMatch(/\d+ of \d+ characters not shown here; v shows all/);
    expect(before).not.toContain("MIDDLE");
    expect(after).toContain(command);
  });

  it("marks each part with its own verdict", async ({ skip }) => {
    needsTerminal(skip);
    const { screen } = await ask(
      {
        args: { command: "git status && rm -rf tmp" },
        segments: [
          { text: "git status", canonical: "git status", verdict: "safe", rule: "safe", reason: "" },
          {
            text: "rm -rf tmp",
            canonical: "rm -rf tmp",
            verdict: "danger",
            rule: "rm",
            reason: "deletes a folder",
          },
        ],
      },
      ["\r"],
      { env: { NO_COLOR: "1" } },
    );
    expect(screen).toContain("✓ git status");
    expect(screen).toContain("⚠ rm -rf tmp  deletes a folder");
  });

  it("of very many parts shows those that are asked about", async ({ skip }) => {
    needsTerminal(skip);
    const part = (text: string, verdict: "safe" | "danger") => ({
      ...{ text, canonical: text, verdict, rule: "r", reason: verdict === "safe" ? "" : "deletes a folder" },
    });
    const many = Array.from({ length: 200 }, (_, index) => part(`echo ${index}`, "safe"));
    const { screen } = await ask({ segments: [...many, part("rm -rf last", "danger")] }, ["v\r", "\r"]);
    const [, before = "", after = ""] = screen.split("asks for approval");
    expect(before).toContain("rm -rf last");
    expect(before).toContain("and 200 more; v shows all");
    expect(after).toContain("echo 199");
  });

  it("obeys NO_COLOR, and a simple terminal gets plain ASCII", async ({ skip }) => {
    needsTerminal(skip);
    const plain = await ask({}, ["\r"], { env: { NO_COLOR: "1" } });
    expect(plain.screen).not.toMatch(/\x1b\[[\d;]*m/);
    const coloured = await ask({}, ["\r"]);
    expect(coloured.screen).toMatch(/\x1b\[33m/);
    const foreign = { args: { command: "rm -rf prеcious" }, effects: [] };
    const simple = await ask({ ...foreign, seconds: 2.5 }, [], { env: { HERMES_ASCII: "1", NO_COLOR: "1" } });
    expect(simple.screen).toMatch(/^[\x00-\x7f]*$/);
    expect(simple.screen).toContain("rm -rf pr\\u{435}cious");
    expect(simple.screen.match(/s left/g)).toHaveLength(1);
  });
});
