import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";

/** A tool that only counts, to prove that a refused request ran nothing. */
export function countingTool(): { readonly tool: AnyTool; readonly runs: () => number } {
  let runs = 0;
  const tool = defineTool({
    name: "count",
    toolset: "counting",
    description: "Counts its calls.",
    permissions: [],
    parameters: { type: "object", properties: {} },
    handler: () => {
      runs += 1;
      return { runs };
    },
  });
  return { tool, runs: () => runs };
}

export const echo = defineTool({
  name: "echo",
  toolset: "echoing",
  description: "Gives back its text.",
  permissions: [],
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  handler: ({ text }) => ({ text }),
});

/** Runs until it is aborted, and says when each of the two happens. */
export function waitingTool(): {
  readonly tool: AnyTool;
  readonly seen: { started: number; aborted: number };
} {
  const seen = { started: 0, aborted: 0 };
  const tool = defineTool({
    name: "wait",
    toolset: "waiting",
    description: "Waits until it is told to stop.",
    permissions: [],
    parameters: { type: "object", properties: {} },
    handler: (_args, ctx) => {
      seen.started += 1;
      return new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          seen.aborted += 1;
          reject(new Error("stopped"));
        });
      });
    },
  });
  return { tool, seen };
}

/** Reports what it is given as its progress. */
export function reportingTool(report: () => unknown): AnyTool {
  return defineTool({
    name: "report",
    toolset: "reporting",
    description: "Reports progress.",
    permissions: [],
    parameters: { type: "object", properties: {} },
    handler: (_args, ctx) => {
      ctx.progress(report() as Parameters<typeof ctx.progress>[0]);
      return "reported";
    },
  });
}
