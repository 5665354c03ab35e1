import { defineTool } from "../../../src/index.js";
import type { AnyTool, NestedTools } from "../../../src/tool/tool.js";
import {
  type QuickJsOutcome,
  type QuickJsRequest,
  runInQuickJs,
} from "../../../src/tools/code/quickjs/run.js";
import { ScriptThreads } from "../../../src/tools/code/quickjs/threads.js";
import { testRuntime } from "../../support/runtime.js";

export type Limits = QuickJsRequest["limits"];

export const LIMITS: Limits = {
  timeoutMs: 10_000,
  memoryBytes: 32 * 1024 * 1024,
  maxToolCalls: 100,
  maxStdoutChars: 5_000,
  maxStderrChars: 1_000,
};

export const echo = defineTool({
  name: "echo",
  description: "Says back what it is given",
  parameters: { type: "object", properties: {}, additionalProperties: true },
  output: { type: "object", additionalProperties: true },
  handler: (args) => ({ ...args }),
});

/** A session whose tools scripts call through the whole path; the scripts share one warm thread. */
export async function scriptSession(tools: readonly AnyTool[] = [echo as AnyTool], approver?: Approver) {
  let nested: NestedTools | undefined;
  let began: () => void = () => undefined;
  let release: () => void = () => undefined;
  const listeners = new Set<(waiting: boolean) => void>();
  const opened = new Promise<void>((resolve) => {
    began = resolve;
  });
  const holder = defineTool({
    name: "holder",
    description: "Stays open while the test runs scripts",
    parameters: { type: "object", properties: {} },
    async handler(_args, ctx) {
      nested = ctx.openTools({
        except: ["holder"],
        onWaiting: (waiting) => {
          for (const listener of listeners) listener(waiting);
        },
      });
      began();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      nested.close();
      return {};
    },
  });
  const { runtime } = await testRuntime([...tools, holder as AnyTool]);
  const session = await runtime.openSession(approver === undefined ? {} : { approver });
  const outer = session.call({ name: "holder" });
  await opened;
  const threads = new ScriptThreads();
  return {
    run(code: string, more: Partial<Limits> & { signal?: AbortSignal } = {}): Promise<QuickJsOutcome> {
      const { signal, ...limits } = more;
      if (nested === undefined) throw new Error("the session has no tools open");
      return runInQuickJs({
        code,
        tools: nested,
        threads,
        limits: { ...LIMITS, ...limits },
        ...(signal !== undefined && { signal }),
        onWaiting: (listener) => listeners.add(listener),
      });
    },
    async close(): Promise<void> {
      await threads.close();
      release();
      await outer;
      await runtime.close();
    },
  };
}

type Approver = NonNullable<
  Parameters<Awaited<ReturnType<typeof testRuntime>>["runtime"]["openSession"]>[0]
>["approver"];
export type ScriptSession = Awaited<ReturnType<typeof scriptSession>>;
