// Our agents at work with the built-in tools, and a model behind HTTP: how much memory many conversations at once take.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hermesAgents, said } from "../hermes-agents.mjs";

/** About 120 kB of text to read. */
const LINES = 2_000;

/** `dist`: the build to measure. `url`: the scripted model's server. `messages`: how many a person says in each conversation. */
export async function open({ dist, url, messages }) {
  const agents = await hermesAgents({ dist });
  const lines = Array.from(
    { length: LINES },
    (_, at) => `line ${at} of the notes, with some words behind it`,
  );
  writeFileSync(join(agents.cwd, "notes.txt"), `${lines.join("\n")}\n`);
  let opened = 0;
  const begin = () =>
    agents.open({ client: agents.client({ url, script: "work", key: `work-${opened++}` }) });
  const converse = async (agent) => {
    for (let message = 0; message < messages; message += 1)
      await said(agent, `Go on with step ${message}, please.`);
  };
  return {
    operations: {
      /** So many conversations at once, all open until the last has ended. */
      async atOnce(count) {
        const open = await Promise.all(Array.from({ length: count }, begin));
        await Promise.all(open.map(converse));
        for (const agent of open) await agent.close();
      },
      peakBytes: async () => peakBytes(),
    },
    close: () => agents.close(),
  };
}

/** The most this process has held so far. Linux hands the other count on from the process that started this one. */
function peakBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(kilobytes) * 1024;
}
