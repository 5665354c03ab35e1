import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment, ExecRequest, SpawnRequest } from "../../src/env/environment.js";
import { conformanceContext, environmentConformance } from "../../src/testing/index.js";
import { localSubject } from "./local-support.js";

/** A mistake that somebody might make, and the case that must notice it. */
interface Mistake {
  readonly what: string;
  readonly noticedBy: string;
  with(right: Environment): Partial<Environment>;
}

const changedExec = (change: (request: ExecRequest) => ExecRequest) => (right: Environment) => ({
  exec: (request: ExecRequest) => right.exec(change(request)),
});
const changedResult =
  (change: (result: Awaited<ReturnType<Environment["exec"]>>) => object) => (right: Environment) => ({
    exec: async (request: ExecRequest) => {
      const result = await right.exec(request);
      return { ...result, ...change(result) };
    },
  });

const MISTAKES: readonly Mistake[] = [
  {
    what: "the folder is not reported",
    noticedBy: "the folder is kept between calls",
    with: changedResult(() => ({ cwd: undefined })),
  },
  {
    what: "exported variables are not reported",
    noticedBy: "exported variables are kept, whatever they hold",
    with: changedResult(() => ({ exported: undefined })),
  },
  {
    what: "line ends are lost on the way back",
    noticedBy: "exported variables are kept, whatever they hold",
    with: changedResult(({ exported = {} }) => ({
      exported: Object.fromEntries(
        Object.entries(exported).map(([name, value]) => [name, value?.replaceAll("\n", " ")]),
      ),
    })),
  },
  {
    what: "every failure is exit code 1",
    noticedBy: "the shell behaves as a shell: output and exit codes",
    with: changedResult(({ exitCode }) => ({ exitCode: Math.min(exitCode, 1) })),
  },
  {
    what: "the last character is lost",
    noticedBy: "many characters of several bytes survive whatever the chunks",
    with: changedResult(({ output }) => ({ output: output.slice(0, -1) })),
  },
  {
    what: "head and tail are half and half",
    noticedBy: "very large output is counted, and kept as head 40 % and tail 60 %",
    with: (right) => ({
      exec: async (request) => {
        const result = await right.exec({ ...request, maxOutputChars: 1_000_000 });
        const { output } = result;
        if (!result.truncated) return result;
        const notice = /\n\[\.\.\..*\.\.\.\]\n/.exec(output)?.[0] ?? "";
        return { ...result, output: output.slice(0, 5_000) + notice + output.slice(-5_000) };
      },
    }),
  },
  {
    what: "streams are merged although they should not be",
    noticedBy: "stdout and stderr stay apart when asked",
    with: changedExec((request) => ({ ...request, separateStderr: false })),
  },
  {
    what: "input is not passed on",
    noticedBy: "input arrives byte for byte",
    with: changedExec(({ stdin: _dropped, ...request }) => request),
  },
  {
    what: "argument vectors go through a shell",
    noticedBy: "argument vectors are touched by no shell",
    with: changedExec((request) => ({
      ...request,
      command: typeof request.command === "string" ? request.command : request.command.join(" "),
    })),
  },
  {
    what: "this process's variables come along",
    noticedBy: "variables of this process stay here",
    with: changedExec((request) => ({ ...request, env: { ...canaries(), ...request.env } })),
  },
  {
    what: "variables are on the command line",
    noticedBy: "values of variables and input are on no command line, here or there",
    with: changedExec(({ env = {}, ...request }) => ({
      ...request,
      command: [
        ...Object.entries(env).map(([name, value]) => `export ${name}='${value}'`),
        String(request.command),
      ].join("; "),
    })),
  },
  {
    what: "a timeout answers and lets the tree run",
    noticedBy: "ten timeouts at once leave nothing",
    with: (right) => ({
      exec: async (request) => {
        const { timeoutMs } = request;
        const late = delay(timeoutMs, undefined, { ref: false }).then(() => ({
          ...{ output: "", stderr: "", exitCode: 124, timedOut: true, cancelled: false },
          ...{ truncated: false, totalBytes: 0, durationMs: timeoutMs },
        }));
        return Promise.race([right.exec({ ...request, timeoutMs: 6_000 }), late]);
      },
    }),
  },
  {
    what: "end() only says so",
    noticedBy: "children of a program that has ended by itself belong to it still",
    with: (right) => ({
      spawn: async (request: SpawnRequest) => ({ ...(await right.spawn(request)), end: async () => [] }),
    }),
  },
  {
    what: "the expected content is not looked at",
    noticedBy: "a write with an expected content happens only over that content",
    with: (right) => ({
      files: { ...right.files, write: (path, data) => right.files.write(path, data) },
    }),
  },
  {
    what: "files are written in place",
    noticedBy: "a link on the way is refused, and what it leads to is untouched",
    with: (right) => ({
      files: {
        ...right.files,
        async write(path, data) {
          await writeFile(path, data);
          return { created: true, dirsCreated: false };
        },
      },
    }),
  },
  {
    what: "ranges end one byte late",
    noticedBy: "ranges of a file",
    with: (right) => ({
      files: {
        ...right.files,
        read: (path, range) =>
          right.files.read(path, range?.end === undefined ? range : { ...range, end: range.end + 1 }),
      },
    }),
  },
  {
    what: "close() does nothing",
    noticedBy: "using a closed environment is a clear error, closing it again is none",
    with: () => ({ close: async () => {} }),
  },
];

function canaries(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith("CONFORMANCE_") && value !== undefined ? [[name, value]] : [],
    ),
  );
}

describe("the conformance suite notices when", () => {
  const subject = localSubject(() => ({}), { largeOutputBytes: 20_000_000 });
  let live: Awaited<ReturnType<typeof subject.start>> | undefined;
  beforeAll(async () => {
    live = await subject.start();
  });
  afterAll(() => live?.stop?.());

  for (const mistake of MISTAKES) {
    test(mistake.what, async () => {
      if (live === undefined) throw new Error("nothing was started");
      const { open } = live;
      const opened: Environment[] = [];
      const context = conformanceContext({
        ...subject.traits,
        ...live,
        async open(options) {
          const right = await open(options);
          opened.push(right);
          return { ...right, ...mistake.with(right) };
        },
      });
      const noticing = environmentConformance().find(({ name }) => name === mistake.noticedBy);
      await expect(noticing?.run(context)).rejects.toThrow(/expected .*, saw /s);
      for (const each of opened) await each.close();
    }, 30_000);
  }

  test("two cases have the same name (they have not)", () => {
    const names = environmentConformance().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
