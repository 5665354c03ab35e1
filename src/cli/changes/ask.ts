import { ownCommand } from "../../base/own-command.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Output } from "../output.js";

const CTRL_C = "\u0003";

/** Tells the person at the server's terminal what has changed and waits; their `y` takes it up. */
export function askAboutChanges(runtime: Runtime, out: Output): void {
  const { stdin } = process;
  const canAsk = stdin.isTTY === true && process.stderr.isTTY === true && !out.json && !out.jsonl;
  let listening = false;
  const onKey = (key: Buffer): void => {
    const typed = key.toString("utf8");
    if (typed === CTRL_C) process.kill(process.pid, "SIGINT");
    if (!/^[yn]$/i.test(typed)) return;
    stop();
    const waiting = runtime.changes?.held ?? [];
    if (typed.toLowerCase() === "n") out.note(`Nothing was taken up. Later: ${ownCommand()} changes accept`);
    else void runtime.changes?.accept(waiting);
  };
  const stop = (): void => {
    if (!listening) return;
    listening = false;
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
  runtime.events.onType("reload.held", ({ files }) => {
    for (const file of files) out.note(`Changed, and not in force: ${file}`);
    if (!canAsk) {
      out.note(`Take it up with: ${ownCommand()} changes accept, or on the page.`);
      return;
    }
    out.note("Take it up? y / n");
    if (listening) return;
    listening = true;
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on("data", onKey);
    stdin.unref();
  });
  runtime.beforeClose(async () => stop());
}
