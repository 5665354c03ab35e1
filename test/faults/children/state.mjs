// A runtime that keeps state of several kinds. First it says that it is ready, then what is left of an earlier one; then
// it writes until it is killed, telling of each thing before it is tried and after it was acknowledged.
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { closeAtEnd, openSession, options, say } from "./session.mjs";

const { home, round, before } = options;
const { runtime, session, call } = await openSession({ tools: [tally()] });
closeAtEnd(runtime);
await call("tally", { line: `ready-${round}` });
say({ ready: true, session: session.id });
say({ left: await whatIsLeft() });
// The files of the earlier one are looked at before they are written anew.
if (options.waits === true) await once(process.stdin, "data");
for (let number = 0; number < (options.most ?? Number.POSITIVE_INFINITY); number += 1) {
  const id = `${round}-${number}`;
  say({ tried: id });
  if (number % 3 === 0) await call("tally", { line: id }, id);
  else if (number % 3 === 1)
    await call("write_file", { path: `file-${number % 15}.txt`, content: `${id}\n`.repeat(2_000) }, id);
  else await call("cronjob", { action: "create", name: id, schedule: "every 9h", script: "true" }, id);
  say({ done: id });
}
say({ finished: true });

/** Does something once for each call that begins, so that a call that ran twice is seen. */
function tally() {
  return {
    name: "tally",
    toolset: "faults",
    schema: {
      description: "Notes a line",
      parameters: { type: "object", properties: { line: { type: "string" } } },
    },
    permissions: ["memory:write"],
    effects: () => [{ action: "memory:write", resource: "tally", mode: "write" }],
    handler: ({ line }) => {
      appendFileSync(join(home, "work", "tally.txt"), `${line}\n`);
      return { noted: line };
    },
  };
}

async function whatIsLeft() {
  const file = join(home, "work", "tally.txt");
  const journal = await runtime.journal();
  const rows = before === undefined ? [] : await journal.recent({ limit: 100_000, sessionId: before });
  const { jobs = [] } = await call("cronjob", { action: "list" });
  const mine = jobs.map((job) => ({ id: job.job_id ?? job.id, name: job.name }));
  if (options.keeps !== true)
    for (const { id } of mine) await call("cronjob", { action: "remove", job_id: id });
  return {
    rows: rows.map(({ call_id, status, damaged }) => ({ id: call_id, status, damaged })),
    jobs: mine.map(({ name }) => name),
    tally: existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [],
  };
}
