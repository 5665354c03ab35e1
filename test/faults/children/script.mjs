// A runtime that plays the same short session each time it is told to, and says how each step went.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openSession, options, say } from "./session.mjs";

const noted = {
  name: "noted",
  toolset: "faults",
  schema: { description: "Changes something", parameters: { type: "object", properties: {} } },
  permissions: ["memory:write"],
  effects: () => [{ action: "memory:write", resource: "noted", mode: "write" }],
  handler: () => {
    appendFileSync(join(options.home, "..", "noted.txt"), "x");
    return { noted: true };
  },
};
const large = {
  name: "large",
  toolset: "faults",
  schema: { description: "Says more than fits", parameters: { type: "object", properties: {} } },
  handler: () => "z".repeat(400_000),
};

const { runtime, session } = await openSession({ tools: [noted, large] });
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { turn } = JSON.parse(line);
  const steps = [];
  const step = async (name, args) => {
    const { ok, error, notices, structured } = await session.call({ name, arguments: args });
    steps.push({ name, ok, error: error?.message, notices: notices?.map(String) });
    return structured;
  };
  await step("write_file", { path: "kept.txt", content: `turn ${turn};`.repeat(3_000) });
  await step("read_file", { path: "steady.txt" });
  await step("noted", { turn });
  const job = await step("cronjob", {
    action: "create",
    name: `turn-${turn}`,
    schedule: "every 9h",
    script: "true",
  });
  if (job?.job_id !== undefined) await step("cronjob", { action: "remove", job_id: job.job_id });
  await step("terminal", { command: `echo ${turn}` });
  await step("large", {});
  say({ turn, steps });
}
await runtime.close();
