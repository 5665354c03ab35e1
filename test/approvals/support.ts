import type { Policy } from "../../src/call/scope.js";
import { defineTool } from "../../src/index.js";
import type { RuntimeApprovals } from "../../src/runtime/approvals.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { type TestRuntime, testRuntime } from "../support/runtime.js";

/** Asks about everything, so that the tests need no dangerous command. */
export const askAlways: Policy = {
  decide: () => ({
    verdict: "ask",
    rule: "test.risky",
    reason: "it is risky",
    grantKeys: ["test.risky"],
    remember: ["exactly this"],
  }),
};

/** Writes down what it was run with. */
export function riskyTool(): { readonly tool: AnyTool; readonly ran: string[] } {
  const ran: string[] = [];
  const tool = defineTool({
    name: "risky",
    toolset: "risks",
    description: "Does something risky.",
    permissions: ["terminal:execute"],
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    effects: ({ text }) => [{ action: "terminal:execute", resource: text, mode: "write" }],
    handler: ({ text }) => {
      ran.push(text);
      return { done: text.length };
    },
  });
  return { tool, ran };
}

export interface AskingRuntime extends TestRuntime {
  readonly ran: readonly string[];
  readonly approvals: RuntimeApprovals;
}

/** A runtime whose one tool always asks; `approvals` is its own hold on the queue. */
export async function askingRuntime(
  options: {
    readonly home?: string;
    readonly cwd?: string;
    readonly timeoutSeconds?: number;
    readonly policy?: Policy;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<AskingRuntime> {
  const { tool, ran } = riskyTool();
  const { home, cwd, env, timeoutSeconds = 60, policy = askAlways } = options;
  const made = await testRuntime([tool], {
    policy,
    flags: { "approvals.timeout": timeoutSeconds },
    ...(home !== undefined && { home }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env: { PATH: process.env.PATH, ...env } }),
  });
  return { ...made, ran, approvals: made.runtime.approvals };
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 25_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not happen within 25 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The same choices in every run, so that a failure can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
