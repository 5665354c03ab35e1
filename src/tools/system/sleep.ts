import { setTimeout as delay } from "node:timers/promises";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";

const MAX_SECONDS = 3600;

interface SleepAnswer {
  readonly slept_ms: number;
  readonly interrupted: boolean;
}

export default defineTool({
  name: "sleep",
  toolset: "timing",
  emoji: "😴",
  description: "Wait, e.g. before looking again at something slow.",
  parameters: {
    type: "object",
    properties: {
      seconds: { type: "number", minimum: 0, maximum: MAX_SECONDS },
      reason: { type: "string" },
    },
    required: ["seconds"],
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  timeoutMs: ({ seconds }) => seconds * 1000 + 5_000,

  async handler({ seconds, reason }, ctx): Promise<SleepAnswer> {
    if (reason !== undefined) ctx.progress({ message: `waiting ${seconds} s: ${reason}` });
    if (seconds === 0 || ctx.signal.aborted) return { slept_ms: 0, interrupted: ctx.signal.aborted };
    const started = performance.now();
    const interrupted = await delay(seconds * 1000, false, { signal: ctx.signal }).catch(() => true);
    return { slept_ms: Math.round(performance.now() - started), interrupted };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `waited ${(out.slept_ms / 1000).toFixed(1)} s${out.interrupted ? ", then interrupted" : ""}`,
  }),

  examples: [
    {
      title: "Wait a moment before looking again",
      arguments: { seconds: 0.2, reason: "the server to start" },
      result: { interrupted: false },
    },
  ],
});
