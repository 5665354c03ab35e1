import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Approver,
  type CallResult,
  defineTool,
  encodeResults,
  type Policy,
  parseRequest,
  type Session,
} from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

/** Every way in which a call of `name` can come to a session. */
const doors: [string, (session: Session, name: string, args: unknown) => Promise<CallResult | undefined>][] =
  [
    ["direct", (session, name, args) => session.call({ name, arguments: args })],
    ["as text", (session, name, args) => session.call({ name, arguments: JSON.stringify(args) })],
    ["batch", async (session, name, args) => (await session.callAll([{ name, arguments: args }]))[0]],
    [
      "second in a batch",
      async (session, name, args) =>
        (await session.callAll([{ name: "harmless" }, { name, arguments: args }]))[1],
    ],
    ["child session", (session, name, args) => session.openChild().call({ name, arguments: args })],
    [
      "child of a child inside a call",
      (session, name, args) =>
        session
          .openChild({ door: "script", insideCall: "call_1" })
          .openChild({ tools: [name] })
          .call({ name, arguments: args }),
    ],
    [
      "functions. prefix",
      (session, name, args) => session.call({ name: `functions.${name}`, arguments: args }),
    ],
    ["doubled name", (session, name, args) => session.call({ name: name + name, arguments: args })],
    ["blanks around", (session, name, args) => session.call({ name: `  ${name}\n`, arguments: args })],
    ["upper case", (session, name, args) => session.call({ name: name.toUpperCase(), arguments: args })],
    ...(
      [
        ["envelope", (name, args) => ({ tool_calls: [{ id: "1", name, arguments: args }] })],
        [
          "OpenAI message",
          (name, args) => ({
            role: "assistant",
            tool_calls: [{ id: "1", type: "function", function: { name, arguments: JSON.stringify(args) } }],
          }),
        ],
        [
          "Anthropic message",
          (name, args) => ({
            role: "assistant",
            content: [{ type: "tool_use", id: "1", name, input: args }],
          }),
        ],
        [
          "MCP request",
          (name, args) => ({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: { name, arguments: args },
          }),
        ],
      ] as [string, (name: string, args: unknown) => unknown][]
    ).map(
      ([label, make]) =>
        [
          label,
          async (session: Session, name: string, args: unknown) => {
            const request = parseRequest(make(name, args));
            if ("code" in request) throw new Error(request.message);
            const results = await session.callAll(request.calls);
            encodeResults(request, results);
            return results[0];
          },
        ] as (typeof doors)[number],
    ),
  ];

async function workbench(options: Parameters<typeof testRuntime>[1] = {}) {
  const harmless = tool("harmless", () => "x");
  return testRuntime([harmless], { builtins: true, ...options });
}

describe("lesson 6: a policy decides on effects, whatever way a call came in", () => {
  it.each(doors)("%s: the hardline floor holds", async (_door, call) => {
    const { runtime, cwd } = await workbench();
    const marker = join(cwd, "marker");
    const session = await runtime.openSession();
    const result = await call(session, "terminal", { command: `touch ${marker}; rm -rf /` });
    expect(result?.error?.code).toBe("denied");
    expect(result?.decision).toMatchObject({ verdict: "deny", rule: "recursive-delete.root" });
    expect(existsSync(marker)).toBe(false);
  });

  it.each(doors)("%s: a protected file is asked for, and without anybody denied", async (_door, call) => {
    const { runtime, cwd } = await workbench();
    const hook = join(cwd, ".git", "hooks", "post-commit");
    const session = await runtime.openSession();
    const result = await call(session, "write_file", { path: hook, content: "#!/bin/sh\ntrue\n" });
    expect(result?.error?.code).toBe("denied");
    expect(existsSync(hook)).toBe(false);
  });

  it("every alias of a tool meets the same decision", async () => {
    const { runtime, cwd } = await workbench();
    const path = join(cwd, ".env");
    const session = await runtime.openSession();
    for (const name of ["write_file", "file_write", "functions.file_write", "File-Write", "writeFile"]) {
      const result = await session.call({ name, arguments: { path, content: "A=1" } });
      expect([name, result.error?.code]).toEqual([name, "denied"]);
    }
    expect(existsSync(path)).toBe(false);
  });

  it("a tool written by anybody is judged by the effects it declares, like the built-in one", async () => {
    let ran = 0;
    const shell = defineTool({
      name: "my_shell",
      description: "another shell",
      parameters: { type: "object", properties: { line: { type: "string" } }, required: ["line"] },
      permissions: ["terminal:execute"],
      effects: ({ line }) => [{ action: "terminal:execute", resource: line, mode: "execute" }],
      handler: () => {
        ran += 1;
        return "ran";
      },
    });
    const { runtime, registry } = await workbench();
    registry.add(shell as AnyTool);
    const session = await runtime.openSession({ toolsets: ["custom"] });
    const result = await session.call({ name: "my_shell", arguments: { line: "mkfs.ext4 /dev/sda1" } });
    expect([result.error?.code, ran]).toEqual(["denied", 0]);
  });

  it("a hook that rewrites arguments does not get around the decision", async () => {
    const { runtime, cwd } = await workbench();
    const target = join(cwd, ".env");
    runtime.hooks.on("pre_tool_call", () => ({ action: "modify", args: { path: target } }));
    const session = await runtime.openSession();
    const result = await session.call({ name: "write_file", arguments: { path: "notes.txt", content: "x" } });
    expect(result.error?.code).toBe("denied");
    expect(existsSync(target)).toBe(false);
  });

  it("a hook cannot turn a denial into a yes", async () => {
    const { runtime } = await workbench();
    runtime.hooks.on("pre_tool_call", () => ({ action: "ask", message: "sure?" }));
    runtime.hooks.on("pre_tool_call", () => ({ action: "allow", message: "yes" }));
    const session = await runtime.openSession({ approver: { ask: async () => "session" } });
    const result = await session.call({ name: "terminal", arguments: { command: "rm -rf /" } });
    expect(result.error?.code).toBe("denied");
  });

  it("the readonly profile holds in children and batches", async () => {
    const { runtime, cwd } = await workbench();
    const session = await runtime.openSession({ profile: "readonly_research" });
    const requests = [
      { name: "terminal", arguments: { command: "true" } },
      { name: "write_file", arguments: { path: join(cwd, "a"), content: "a" } },
      { name: "patch", arguments: { patch: "*** Begin Patch\n*** Add File: b\n+b\n*** End Patch" } },
    ];
    for (const opened of [session, session.openChild(), session.openChild().openChild({ door: "script" })]) {
      const results = await opened.callAll(requests);
      expect(results.map((result) => result.error?.code)).toEqual(["denied", "denied", "denied"]);
    }
    expect(existsSync(join(cwd, "a")) || existsSync(join(cwd, "b"))).toBe(false);
  });

  it("the strictest of several effects decides, and each question is asked", async () => {
    const { runtime, cwd } = await workbench();
    const outside = join(runtime.config.paths.home, "..", "outside-of-the-workspace");
    const asked: string[] = [];
    const approver: Approver = {
      async ask(request) {
        asked.push(request.reason);
        return "session";
      },
    };
    const session = await runtime.openSession({ approver });
    const hooks = join(cwd, ".git/hooks");
    const add = (path: string) => `*** Add File: ${path}\n+x\n`;
    const patch = (...paths: string[]) => ({
      name: "patch",
      arguments: { mode: "patch", patch: `*** Begin Patch\n${paths.map(add).join("")}*** End Patch\n` },
    });
    await session.call(patch(join(hooks, "pre-push")));
    expect(asked).toHaveLength(1);
    // The same file name is covered; the new protected one beside it is not.
    await session.call(patch(join(hooks, "pre-commit"), join(cwd, ".env.secret")));
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain(".env.secret");
    await session.call({ name: "terminal", arguments: { command: "rm -rf ./nothing-here" } });
    expect(asked).toHaveLength(3);
    expect(existsSync(outside)).toBe(false);
  });

  it.each<[string, Policy["decide"]]>([
    ["is asynchronous", (async () => ({ verdict: "allow", rule: "r" })) as never],
    [
      "fails later",
      (async () => {
        throw new Error("later");
      }) as never,
    ],
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["says something else", () => ({ verdict: "maybe", rule: "r" }) as never],
    ["says yes in other words", () => ({ verdict: "ALLOW", rule: "r" }) as never],
    ["says nothing", () => undefined as never],
    ["answers true", () => true as never],
  ])("a policy that %s is a no", async (_what, decide) => {
    let ran = false;
    const subject = tool("subject", () => {
      ran = true;
      return "ran";
    });
    const { runtime } = await testRuntime([subject], { policy: { decide } });
    const session = await runtime.openSession({ approver: { ask: async () => "once" } });
    expect((await session.call({ name: "subject" })).ok).toBe(false);
    expect(ran).toBe(false);
  });

  it("a grant of the parent's person counts for the child, a tool outside the child's view does not", async () => {
    const { runtime, cwd } = await workbench();
    const session = await runtime.openSession({ approver: { ask: async () => "once" } });
    const child = session.openChild({ tools: ["read_file"] });
    writeFileSync(join(cwd, "a.txt"), "a");
    expect((await child.call({ name: "read_file", arguments: { path: "a.txt" } })).ok).toBe(true);
    const result = await child.call({ name: "write_file", arguments: { path: "a.txt", content: "b" } });
    expect(result.error?.code).toBe("not_found");
    const wider = child.openChild({ tools: ["write_file", "terminal", "read_file"] });
    expect([...wider.view.entries.keys()]).toEqual(["read_file"]);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("a");
    onTestEnd(() => session.close());
  });
});
