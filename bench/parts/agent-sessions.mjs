// Two hundred conversations at once in one process, each with the built-in tools: files read, searched and written,
// commands run, everything written down. What counts is the most memory the process ever held.
import { withSubjects } from "../coordinate.mjs";
import { startScriptedModel } from "../scripted-model.mjs";
import { single } from "../statistics.mjs";

const SESSIONS = 200;
const MESSAGES = 10;

export async function measureAgentSessions({ dist, effort }) {
  const model = await startScriptedModel();
  try {
    return await withSubjects(async ({ start }) => {
      const isWhole = effort.rounds >= 10;
      const sessions = isWhole ? SESSIONS : 8;
      const messages = isWhole ? MESSAGES : 2;
      const subject = await start("hermes-work", { dist, url: model.url, messages });
      const before = await subject.measure("peakBytes", 1);
      const taken = await subject.measure("atOnce", sessions);
      const peak = await subject.measure("peakBytes", 1);
      return {
        sessions,
        turnsPerSecond: Math.round((sessions * messages * 4) / (taken / 1e9)),
        megabytes: {
          "agent-process": single(before / 1024 ** 2),
          [`agent-sessions-${sessions}`]: single(peak / 1024 ** 2),
        },
      };
    });
  } finally {
    await model.stop();
  }
}
