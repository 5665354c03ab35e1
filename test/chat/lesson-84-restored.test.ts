import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../pty/support.js";
import { KEY, startChat } from "./support.js";

const MOUSE = /\u001b\[\?(?:9|1000|1001|1002|1003|1005|1006|1015)h/;

/** The modes that a program may have left behind. */
function leftOn(output: string): readonly string[] {
  const on = new Set<string>();
  for (const [, mode = "", way] of output.matchAll(/\u001b\[\?(\d+)([hl])/g))
    if (way === "h") on.add(mode);
    else on.delete(mode);
  return [...on].filter((mode) => mode !== "25");
}

const AROUND = `stty -a > "$HOME/before"; $CHAT; echo "left with $?"; stty -a > "$HOME/after"`;

it.for([
  { way: "/quit", type: [`/quit${KEY.enter}`], code: 0 },
  { way: "Ctrl-D", type: [KEY.ctrlD], code: 0 },
  { way: "Ctrl-C twice", type: [KEY.ctrlC, KEY.ctrlC], code: 0 },
  { way: "SIGTERM", signal: "TERM", code: 143 },
  { way: "SIGHUP", signal: "HUP", code: 129 },
])("lesson 84: the terminal is as before after $way", async ({ type = [], signal, code }) => {
  const chat = await startChat([], { shell: AROUND });
  await chat.isReady();
  await chat.type("half a sentence");
  await chat.sees("half a sentence");
  if (signal === undefined) await chat.type(KEY.ctrlC);
  await chat.sees(signal === undefined ? "again to quit" : "half a");
  if (signal !== undefined) {
    const pid = readFileSync(`/proc/${chat.process.pid}/task/${chat.process.pid}/children`, "utf8").trim();
    process.kill(Number(pid.split(" ")[0]), `SIG${signal}`);
  }
  // A key in between, so that the first Ctrl-C does not count.
  if (signal === undefined) await chat.type("x\u007f");
  for (const keys of type) await chat.type(keys);
  await chat.printed(`left with ${code}`);
  await chat.process.ended;
  expect(readFileSync(join(chat.home, "after"), "utf8")).toBe(
    readFileSync(join(chat.home, "before"), "utf8"),
  );
  expect(leftOn(chat.output())).toEqual([]);
  expect(chat.output()).not.toMatch(MOUSE);
});

it("lesson 84: Ctrl-Z gives the shell its terminal, and fg comes back to what was being written", async () => {
  const shell = `set -m; stty -a > "$HOME/before"; $CHAT; stty -a > "$HOME/stopped"; echo "in the shell"; read -r line; fg; stty -a > "$HOME/after"; echo over`;
  const chat = await startChat([{ text: "Heard." }], { shell });
  await chat.isReady();
  await chat.type("keep this");
  await chat.sees("› keep this");
  await chat.type(KEY.ctrlZ);
  await chat.sees("in the shell");
  const modes = (name: string) => readFileSync(join(chat.home, name), "utf8");
  expect(modes("stopped")).toBe(modes("before"));
  expect(leftOn(chat.output())).toEqual([]);
  await chat.type("\n");
  await eventually(
    () => chat.screen.text(),
    (shown) => /› keep this$/m.test(shown.slice(shown.indexOf("in the shell"))),
  );
  await chat.type(KEY.enter);
  await chat.printed("Heard.");
  await chat.type(KEY.ctrlD);
  await chat.printed("over");
  await chat.process.ended;
  expect(modes("after")).toBe(modes("before"));
});
