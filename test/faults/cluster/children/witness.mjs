// Tools of the machines in fault tests of a cluster. Lies in the tools folder of each home.
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { defineTool } from "hermes-tools";

const text = { type: "string" };
const ms = { type: "integer", default: 0, description: "How long it takes" };

export const witness = defineTool({
  name: "witness",
  toolset: "faults",
  description: "Leaves one line for each time it runs",
  parameters: { type: "object", properties: { line: text, lane: text, ms }, required: ["line", "lane"] },
  permissions: ["memory:write"],
  effects: ({ lane }) => [{ action: "memory:write", resource: `lane-${lane}`, mode: "write" }],
  timeoutMs: 40_000,
  async handler({ line, ms }) {
    appendFileSync(process.env.FAULTS_WITNESS, `${line} ${process.pid}\n`);
    if (ms > 0) await pause(ms);
    return { line, pid: process.pid };
  },
});

export const look = defineTool({
  name: "look",
  toolset: "faults",
  description: "Changes nothing and gives back what it got",
  parameters: { type: "object", properties: { text, ms } },
  timeoutMs: 40_000,
  maxResultSizeChars: Number.POSITIVE_INFINITY,
  async handler({ text, ms }) {
    if (ms > 0) await pause(ms);
    return { text, pid: process.pid };
  },
});
