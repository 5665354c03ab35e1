import { readFileSync } from "node:fs";
import { ownCommand } from "../../base/own-command.js";
import type { HeldFile } from "../../runtime/reload/held-changes.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Output } from "../output.js";

const CTRL_C = "\u0003";
const QUESTION = "Take it up? y / n";

/** Tells the person at the server's terminal what has changed and waits; their `y` takes it up. */
export function askAboutChanges(runtime: Runtime, out: Output): void {
  const { stdin } = process;
  const canAsk = stdin.isTTY === true && process.stderr.isTTY === true && !out.json && !out.jsonl;
  let listening = false;
  let shown: readonly HeldFile[] = [];
  const show = (files: readonly string[]): void => {
    for (const file of files) out.note(`Changed, and not in force: ${file}`);
  };
  const onKey = (key: Buffer): void => {
    const typed = key.toString("utf8");
    if (typed === CTRL_C) process.kill(process.pid, "SIGINT");
    else if (/^[yn]$/i.test(typed)) answer(typed.toLowerCase() === "y");
    else {
      show(shown.map(({ path }) => path));
      out.note(QUESTION);
    }
  };
  const answer = (yes: boolean): void => {
    stop();
    if (yes) void runtime.changes?.accept(shown);
    else out.note(`Nothing was taken up. Later: ${ownCommand()} changes accept`);
  };
  const stop = (): void => {
    if (!listening) return;
    listening = false;
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
  runtime.events.onType("reload.held", ({ files }) => {
    show(files);
    if (!canAsk || !isInForeground()) {
      out.note(`Take it up with: ${ownCommand()} changes accept, or on the page.`);
      return;
    }
    shown = runtime.changes?.held ?? [];
    out.note(QUESTION);
    if (listening) return;
    listening = true;
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on("data", onKey);
    stdin.unref();
  });
  runtime.beforeClose(async () => stop());
}

/** The system stops a program that is in the background of its terminal (`npm start &`) and reads from it all the same. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return group === foreground;
  } catch {
    return true;
  }
}
