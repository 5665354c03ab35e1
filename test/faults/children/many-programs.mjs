// Starts programs of all kinds in the background, says so, and waits to be killed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { closeAtEnd, openSession, options, say } from "./session.mjs";

// In files, because the tool refuses lines that go into the background by themselves.
const SCRIPTS = {
  "session.sh": "setsid sh -c 'sleep 601; :' &\nsleep 602\n",
  "twice.sh":
    "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' >/dev/null 2>&1 &)\nsleep 603\n",
  "deaf.sh": "trap '' TERM HUP INT\nwhile :; do sleep 1; done\n",
};
const COMMANDS = [
  { command: "sleep 600" },
  { command: "sh session.sh" },
  { command: "sh twice.sh" },
  { command: "sh deaf.sh" },
  { command: "echo in a terminal; sleep 604", pty: true },
];

const { runtime, call } = await openSession();
closeAtEnd(runtime);
for (const [name, text] of Object.entries(SCRIPTS)) writeFileSync(join(options.home, "work", name), text);
for (let started = 0; started < options.count; started += 1)
  await call("terminal", { ...COMMANDS[started % COMMANDS.length], background: true });
// One more in the foreground: a call may be under way when the end comes.
void call("terminal", { command: "sleep 605" }).catch(() => {});
const { processes } = await call("process", { action: "list" });
say({ started: options.count, listed: processes?.length });
