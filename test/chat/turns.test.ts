import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../pty/support.js";
import { needs } from "../support/needs.js";
import { KEY, startChat } from "./support.js";

const WRITES = {
  calls: [{ id: "w1", name: "write_file", arguments: { path: "note.txt", content: "hello" } }],
};

describe("a turn on the terminal", () => {
  it("shows a line for each call with what it is about and how long it took, and the answer as Markdown", async () => {
    const text = "It is **written**:\n\n- in `note.txt`\n\n| a | b |\n|---|---|\n| 1 | two |\n\nBye.";
    const chat = await startChat([WRITES, { text }]);
    await chat.type(`write a note${KEY.enter}`);
    await chat.printed("Bye.");
    const shown = await chat.screen.scrollback(200);
    expect(shown).toMatch(/✓ .*write_file {2}note\.txt.* {2}[\d.]+m?s/);
    expect(shown).toContain("It is written:");
    expect(shown).toContain("• in note.txt");
    expect(shown).toMatch(/^a {2}b\n1 {2}two$/m);
    expect(chat.output()).toContain("\u001b[1mwritten\u001b[22m");
    expect(readFileSync(join(chat.cwd, "note.txt"), "utf8")).toBe("hello");
  });

  it("shows what an edit changed, in colours", async () => {
    const edit = {
      calls: [{ id: "e", name: "patch", arguments: { path: "a.txt", old_string: "old", new_string: "new" } }],
    };
    const read = { calls: [{ id: "r", name: "read_file", arguments: { path: "a.txt" } }] };
    const chat = await startChat([read, edit, { text: "Changed." }]);
    writeFileSync(join(chat.cwd, "a.txt"), "first\nold\nlast\n");
    await chat.type(`edit it${KEY.enter}`);
    await chat.printed("Changed.");
    expect(chat.output()).toContain("\u001b[31m-old\u001b[39m");
    expect(chat.output()).toContain("\u001b[32m+new\u001b[39m");
  });

  it("asks before something dangerous, with the dangerous part named; the answer counts and the chat goes on", async () => {
    const removes = {
      calls: [{ id: "d", name: "terminal", arguments: { command: "ls && rm -rf precious" } }],
    };
    const chat = await startChat([removes, { text: "As you wish." }, removes, { text: "It is gone." }]);
    const folder = join(chat.cwd, "precious");
    mkdirSync(folder);
    await chat.type(`remove it${KEY.enter}`);
    await chat.sees("Choice [");
    expect(await chat.screen.scrollback(100)).toMatch(/⚠ rm -rf precious {2}.*deletes a folder/);
    await chat.type(`d${KEY.enter}`);
    await chat.printed("As you wish.");
    expect(existsSync(folder)).toBe(true);
    await chat.isIdle();
    await chat.type(`remove it now${KEY.enter}`);
    await chat.sees(/Choice \[[^\n]*$/);
    await chat.type(`o${KEY.enter}`);
    await chat.printed("It is gone.");
    expect(existsSync(folder)).toBe(false);
  });

  it("passes a tool's question on, and the next line is the answer", async () => {
    const asks = {
      calls: [
        { id: "q", name: "clarify", arguments: { question: "Tabs or blanks?", choices: ["tabs", "blanks"] } },
      ],
    };
    const chat = await startChat([asks, { text: "Blanks it is." }]);
    await chat.type(`indent${KEY.enter}`);
    await chat.sees("2. blanks");
    await chat.type(`2${KEY.enter}`);
    await chat.printed("Blanks it is.");
    expect(chat.lastAsked()).toContain('"user_response":"blanks"');
  });

  it("says what is wrong when the model cannot be asked, and can be asked again", async () => {
    const chat = await startChat([{ status: 401, error: "no such key" }, { text: "Better." }]);
    await chat.type(`hello${KEY.enter}`);
    await chat.printed("401: the key is wrong");
    await chat.printed("hermes setup model");
    await chat.isIdle();
    await chat.type(`again${KEY.enter}`);
    await chat.printed("Better.");
  });

  it("a terminal that becomes narrower loses nothing that was said", async () => {
    const chat = await startChat([{ text: "Narrow it is." }]);
    await chat.type("some words that are longer than thirty columns");
    await chat.sees("thirty columns");
    chat.process.resize?.({ columns: 30, rows: 20 });
    chat.screen.resize({ columns: 30, rows: 20 });
    await chat.sees(/› some words that are longer t/);
    await chat.type(KEY.enter);
    await chat.printed("Narrow it is.");
    expect(chat.lastAsked()).toBe("some words that are longer than thirty columns");
  });
});

describe("commands of the chat", () => {
  it("/undo takes the last turn back with its files, also those that commands made", async (context) => {
    needs(context, "git");
    const chat = await startChat([
      { text: "Hello." },
      {
        calls: [
          {
            id: "t",
            name: "terminal",
            arguments: { command: "echo made > made.txt; echo changed > kept.txt" },
          },
          { id: "w", name: "write_file", arguments: { path: "note.txt", content: "note" } },
        ],
      },
      { text: "All done." },
      { text: "Fresh." },
    ]);
    const at = (name: string) => join(chat.cwd, name);
    writeFileSync(at("kept.txt"), "as it was\n");
    await chat.type(`hi${KEY.enter}`);
    await chat.printed("Hello.");
    await chat.isIdle();
    await chat.type(`change things${KEY.enter}`);
    await chat.printed("All done.");
    await chat.isIdle();
    expect(existsSync(at("made.txt")) && existsSync(at("note.txt"))).toBe(true);
    await chat.type(`/undo${KEY.enter}`);
    await chat.printed("The last turn is taken back");
    await chat.printed("removed made.txt");
    await chat.printed("restored kept.txt");
    await chat.sees("› change things");
    expect(existsSync(at("made.txt"))).toBe(false);
    expect(existsSync(at("note.txt"))).toBe(false);
    expect(readFileSync(at("kept.txt"), "utf8")).toBe("as it was\n");
    await chat.type(` otherwise${KEY.enter}`);
    await chat.printed("Fresh.");
    const said = chat.server.requests.at(-1)?.messages.filter(({ role }) => role === "user");
    expect(said?.map(({ text }) => text)).toEqual(["hi", "change things otherwise"]);
  });

  it("lesson 124: /budget raises what the conversation may cost, and the work that waited goes on", async () => {
    const chat = await startChat([{ text: "Done at last." }], {
      env: {
        HERMES_MODEL_PRICES_INPUT: "0",
        HERMES_MODEL_PRICES_OUTPUT: "1000",
        HERMES_MODEL_BUDGET_USD: "0.5",
      },
    });
    await chat.type(`do it${KEY.enter}`);
    await chat.printed("the work waits");
    await chat.isIdle();
    expect(chat.server.requests).toHaveLength(0);
    await chat.type(`/budget 5${KEY.enter}`);
    await chat.printed("Done at last.");
    expect(chat.server.requests).toHaveLength(1);
  });

  it("/plan reads only, and the model is told; again, and it may act", async () => {
    const chat = await startChat([WRITES, { text: "I could not." }, WRITES, { text: "Now I could." }]);
    await chat.type(`/plan${KEY.enter}`);
    await chat.sees("plan mode ·");
    await chat.type(`write it${KEY.enter}`);
    await chat.printed("I could not.");
    expect(chat.server.requests[0]?.messages.at(-1)?.text).toMatch(/^write it\n\n\[Plan mode is on/);
    expect(existsSync(join(chat.cwd, "note.txt"))).toBe(false);
    await chat.isIdle();
    await chat.type(`/plan${KEY.enter}`);
    await chat.sees("may act");
    await chat.type(`go${KEY.enter}`);
    await chat.printed("Now I could.");
    expect(existsSync(join(chat.cwd, "note.txt"))).toBe(true);
  });

  it("/new, /resume and /export: conversations are left, found again and written down", async () => {
    const chat = await startChat([{ text: "Blue." }, { text: "Who knows." }, { text: "Blue, I said." }]);
    await chat.type(`a colour${KEY.enter}`);
    await chat.printed("Blue.");
    await chat.isIdle();
    await chat.type(`/new${KEY.enter}`);
    await chat.sees("A new conversation.");
    await chat.type(`which one?${KEY.enter}`);
    await chat.printed("Who knows.");
    await chat.isIdle();
    expect(chat.server.requests[1]?.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    await chat.type(`/resume${KEY.enter}`);
    await chat.sees("/resume ID");
    const id = /(\S+) {2}\d+ s {2}a colour/.exec(await chat.screen.text())?.[1] ?? "";
    await chat.type(`/resume ${id}${KEY.enter}`);
    await eventually(
      async () => (await chat.screen.scrollback(200)).match(/^› a colour$/gm)?.length,
      (count) => count === 2,
    );
    await chat.type(`which one?${KEY.enter}`);
    await chat.printed("Blue, I said.");
    await chat.isIdle();
    await chat.type(`/export talk.md${KEY.enter}`);
    await chat.sees("✓ ");
    expect(readFileSync(join(chat.cwd, "talk.md"), "utf8")).toContain("Blue, I said.");
  });

  it("/help /tools /toolsets /profile /model /mcp /approve /stats /cost each say something", async () => {
    const chat = await startChat([WRITES, { text: "Done." }]);
    await chat.type(`go${KEY.enter}`);
    await chat.printed("Done.");
    await chat.isIdle();
    const says: readonly (readonly [string, string])[] = [
      ["/help", "take the last turn back"],
      ["/tools", "write_file"],
      ["/toolsets", "tools  "],
      ["/profile", "Profile "],
      ["/model", "compatible:scripted"],
      ["/mcp", "No MCP servers"],
      ["/approve", "Nothing waits for approval"],
      ["/stats", "p95 ms"],
      ["/cost", "tokens read"],
      ["/halp", "Did you mean /help?"],
    ];
    for (const [command, answer] of says) {
      await chat.type(command + KEY.enter);
      await eventually(
        async () => (await chat.screen.scrollback(1_000)).split(`› ${command}\n`),
        (parts) => parts.length > 1 && parts.at(-1)?.includes(answer) === true,
      );
    }
  });

  it("completes /commands and @files with Tab, and finds what was typed before with ↑, also in the next chat", async () => {
    const chat = await startChat([{ text: "Read." }]);
    mkdirSync(join(chat.cwd, "folder"));
    writeFileSync(join(chat.cwd, "folder", "wanted.txt"), "");
    await chat.type("/too");
    await chat.sees(/\/toolsets +all toolsets/);
    await chat.type(KEY.tab);
    await chat.sees("› /tools");
    await chat.type("\u0015look at @fo");
    await chat.sees("@folder/");
    await chat.type(KEY.tab);
    await chat.sees("› look at @folder/");
    await chat.type("w");
    await chat.sees("@folder/wanted.txt");
    await chat.type(KEY.tab);
    await chat.sees("› look at @folder/wanted.txt");
    await chat.type(KEY.enter);
    await chat.printed("Read.");
    expect(chat.lastAsked().trim()).toBe("look at @folder/wanted.txt");
    await chat.type(KEY.ctrlD);
    await chat.process.ended;
    const next = await startChat([], { home: chat.home, cwd: chat.cwd });
    await next.type(KEY.up);
    await next.sees("› look at @folder/wanted.txt");
  });

  it("--resume finishes a turn that kill -9 cut off; what ran then is told as unknown and not run again", async () => {
    const runs = {
      calls: [{ id: "r", name: "terminal", arguments: { command: "echo ran >> ran.txt; sleep 60" } }],
    };
    const chat = await startChat([runs]);
    await chat.type(`go${KEY.enter}`);
    await eventually(
      async () => existsSync(join(chat.cwd, "ran.txt")),
      (isThere) => isThere,
    );
    if (chat.process.pid !== undefined) process.kill(chat.process.pid, "SIGKILL");
    await chat.process.ended;
    const next = await startChat([{ text: "I shall look first." }], {
      home: chat.home,
      cwd: chat.cwd,
      args: ["--resume", "last"],
    });
    await next.printed("This turn was cut off; it goes on.");
    await next.printed("I shall look first.");
    expect(next.lastAsked()).toContain('"status":"unknown"');
    expect(readFileSync(join(chat.cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("--resume goes on with a conversation and shows the end of it", async () => {
    const chat = await startChat([{ text: "The word is *swordfish*." }]);
    await chat.type(`the word${KEY.enter}`);
    await chat.printed("The word is");
    await chat.isIdle();
    await chat.type(KEY.ctrlD);
    await chat.process.ended;
    const next = await startChat([{ text: "Again: swordfish." }], {
      home: chat.home,
      cwd: chat.cwd,
      args: ["--resume", "last"],
    });
    await next.sees("The word is swordfish.");
    await next.type(`again${KEY.enter}`);
    await next.printed("Again: swordfish.");
    expect(next.server.requests[0]?.messages.map(({ text }) => text)).toContain("the word");
  });
});
