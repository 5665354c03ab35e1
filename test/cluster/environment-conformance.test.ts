// @needs nats-server
import { resolve } from "node:path/posix";
import { deserialize, serialize } from "node:v8";
import { expect, it } from "vitest";
import type { RunOptions } from "../../src/call/call-record.js";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { type CallResult, defineTool, ToolError, textOf } from "../../src/index.js";
import { conformanceContext, environmentConformance } from "../../src/testing/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { runningWith } from "../sandbox/support.js";
import { testCluster, useNats } from "./support.js";

useNats();

/**
 * What a call can be: a question and its answer. Programs that go on after it, watches and copies to this machine are
 * no calls, and the rest is the environment's own, whichever machine it is on.
 */
const CASES = [
  "the folder is kept between calls",
  "exported variables are kept, whatever they hold",
  "unset is kept too, also for the environment's own variables",
  "two tasks of one environment do not see each other",
  "a deleted folder is an error, then the task goes on in the nearest one",
  "the shell behaves as a shell: output and exit codes",
  "argument vectors are touched by no shell",
  "calls at the same time do not mix",
  "input arrives byte for byte",
  "many characters of several bytes survive whatever the chunks",
  "stdout and stderr stay apart when asked",
  "output is streamed while the command runs",
  "a command that takes too long ends with 124 and what it printed",
  "a cancelled command ends with 130 and what it printed",
  "a call that was cancelled before starts nothing",
  "cancelling right after the start leaves nothing running",
  "cancelling ends the whole tree",
  "files hold exactly the bytes that were written",
  "ranges of a file",
  "odd file names work in every operation",
  "stat tells type, size, mode and time; links are followed",
  "realpath follows links, also where the rest is missing",
  "files and commands see one place",
  "a write with an expected content happens only over that content",
  "of several writers that expect the same content one wins",
  "a link on the way is refused, and what it leads to is untouched",
];

interface Question {
  readonly of: "exec" | "files";
  readonly method: string;
  readonly args: readonly unknown[];
}

const MARK = "packed:";
const packed = (value: unknown) => MARK + serialize(value).toString("base64");
const unpacked = (text: string) =>
  deserialize(Buffer.from(/packed:([A-Za-z0-9+/=]*)/.exec(text)?.[1] ?? "", "base64"));

/** Does one thing with the environment of the machine where it runs. */
const inEnvironment = defineTool({
  name: "in_environment",
  description: "asks the environment",
  permissions: [],
  parameters: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  timeoutMs: 60_000,
  maxResultSizeChars: Number.POSITIVE_INFINITY,
  async handler({ question }, ctx) {
    const { of, method, args } = unpacked(question) as Question;
    try {
      if (of === "files") {
        const files = ctx.environment.files as unknown as Record<
          string,
          (...args: readonly unknown[]) => unknown
        >;
        return packed({ answer: await files[method]?.(...args) });
      }
      const answer = await ctx.environment.exec({
        ...(args[0] as ExecRequest),
        signal: ctx.signal,
        onChunk: (chunk) => ctx.progress({ chunk }),
      });
      return packed({ answer });
    } catch (error) {
      if (!ToolError.isInstance(error)) throw error;
      const { message, code, hint, details } = error;
      return packed({ error: { message, code, hint, details } });
    }
  },
}) as AnyTool;

type Call = (question: Question, options?: RunOptions) => Promise<CallResult>;

/** The environment of a worker, as far as calls of a session can be it. */
function throughCalls(call: Call): Environment {
  async function ask(question: Question, options?: RunOptions): Promise<unknown> {
    const result = await call(question, options);
    const text = textOf(result.content);
    if (!text.includes(MARK)) throw new ToolError(text, { code: result.error?.code ?? "failed" });
    const { answer, error } = unpacked(text) as { answer?: unknown; error?: ToolError };
    if (error === undefined) return answer;
    const { message, code, hint, details } = error;
    throw new ToolError(message, { code, hint, details });
  }
  const files = ["realpath", "stat", "list", "read", "write", "remove", "rename"].map((method) => [
    method,
    (...args: readonly unknown[]) => ask({ of: "files", method, args }),
  ]);
  return {
    name: "worker",
    kind: "plugin",
    files: { ...Object.fromEntries(files), resolve: (path: string, cwd: string) => resolve(cwd, path) },
    async exec({ signal, onChunk, ready: _ready, ...request }: ExecRequest) {
      const onProgress = ({ chunk = "" }) => onChunk?.(chunk);
      try {
        return await ask({ of: "exec", method: "", args: [request] }, { signal, onProgress });
      } catch (error) {
        // Interrupted before its command began, a call has no output that could say so.
        if (ToolError.isInstance(error) && error.code === "cancelled") return NOT_BEGUN;
        throw error;
      }
    },
    close: async () => undefined,
  } as unknown as Environment;
}

const NOT_BEGUN = { output: "", stderr: "", exitCode: 130, timedOut: false, cancelled: true, durationMs: 0 };

it("what tools do in an environment is the same through calls that run on a worker", async () => {
  const { front } = await testCluster([inEnvironment], {
    worker: { "cluster.drain_seconds": 0, "terminal.sandbox": "off" },
  });
  const workers = new Set<string | undefined>();
  const environment = throughCalls(async (question, options) => {
    // Each its own session, so that what a task keeps is nobody's but the suite's.
    const session = await front.runtime.openSession();
    const request = { name: "in_environment", arguments: { question: packed(question) } };
    const result = await session.call(request, options);
    session.close();
    if (result.state !== "not_started") workers.add(result.worker);
    return result;
  });
  const setup = {
    open: async () => environment,
    leftovers: async () => [],
    running: async (variable: string, value: string) => runningWith(variable, value),
  };
  const context = conformanceContext(setup);
  const cases = environmentConformance().filter(({ name }) => CASES.includes(name));
  expect(cases.map(({ name }) => name).sort()).toEqual([...CASES].sort());
  const failed: string[] = [];
  const run = ({ name, run }: (typeof cases)[number]) =>
    run(context).catch((error: Error) => failed.push(`${name}: ${error.message}`));
  await Promise.all(cases.filter(({ alone }) => !alone).map(run));
  for (const each of cases.filter(({ alone }) => alone)) await run(each);
  await context.close();
  expect(failed).toEqual([]);
  expect(workers.size).toBe(1);
  expect(workers).not.toContain(undefined);
}, 60_000);
