import { describe, expect, it, vi } from "vitest";
import { type Approver, defineTool, ToolError, ToolResult, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { tempDir, testRuntime } from "../support/runtime.js";

const tool = (name: string, handler: AnyTool["handler"], extra: Partial<AnyTool> = {}): AnyTool => ({
  ...defineTool({ name, description: name, parameters: { type: "object", properties: { x: {} } }, handler }),
  ...extra,
});

async function callOne(
  subject: AnyTool,
  args: unknown = {},
  options: Parameters<typeof testRuntime>[1] = {},
) {
  const { runtime, logged } = await testRuntime([subject], options);
  const session = await runtime.openSession();
  return { result: await session.call({ id: "c1", name: subject.name, arguments: args }), logged, session };
}

describe("what the model reads when something goes wrong", () => {
  it("an unknown tool", async () => {
    const { session } = await callOne(tool("echo", () => "x"));
    const result = await session.call({ name: "ecco" });
    expect(JSON.parse(textOf(result.content))).toEqual({
      error: "Unknown tool: ecco",
      hint: "Did you mean echo?",
    });
    expect(result.error?.code).toBe("not_found");
  });

  it("an exception, in the words of the source documents", async () => {
    const { result } = await callOne(
      tool("bad", () => {
        throw new TypeError("no such thing");
      }),
    );
    expect(JSON.parse(textOf(result.content))).toEqual({
      error: "Tool execution failed: TypeError: no such thing",
    });
    expect(result).toMatchObject({ ok: false, error: { code: "failed" } });
  });

  it("a defect of the path itself, in the words of the outer wrapper", async () => {
    const { result } = await callOne(
      tool("odd", () => "x"),
      {},
      {
        policy: {
          decide() {
            throw new Error("policy exploded");
          },
        },
      },
    );
    expect(JSON.parse(textOf(result.content)).error).toBe("Error executing odd: policy exploded");
    expect(result.error?.code).toBe("internal");
  });

  it("a ToolError, in the author's words", async () => {
    const { result } = await callOne(
      tool("polite", () => {
        throw new ToolError("disk is full", { hint: "free some space" });
      }),
    );
    expect(result.error).toEqual({ code: "failed", message: "disk is full", hint: "free some space" });
  });

  it("a handler that returns JSON text with an error field has failed", async () => {
    const { result } = await callOne(tool("classic", () => JSON.stringify({ error: "quota", extra: 1 })));
    expect(result).toMatchObject({ ok: false, error: { message: "quota" } });
  });
});

describe("handlers that misbehave still give one well-formed result", () => {
  const cyclic: Record<string, unknown> = { name: "loop" };
  cyclic.self = cyclic;
  const throwing = (value: unknown) => () => {
    throw value;
  };
  it.each<[string, AnyTool["handler"], boolean]>([
    ["return undefined", () => undefined, false],
    ["return null", () => null, false],
    ["return a function", () => () => 1, false],
    ["return a symbol", () => Symbol("s"), false],
    ["return a cycle", () => cyclic, true],
    ["return a BigInt", () => ({ big: 2n ** 70n }), true],
    ["return a bare BigInt", () => 7n, true],
    [
      "return a throwing getter",
      () => ({
        get x() {
          throw new Error("getter");
        },
      }),
      true,
    ],
    ["throw undefined", throwing(undefined), false],
    ["throw a string", throwing("plain"), false],
    ["throw null", throwing(null), false],
    [
      "throw an object with a throwing message",
      throwing({
        get message() {
          throw new Error("x");
        },
      }),
      false,
    ],
    ["reject with a non-error", async () => Promise.reject(42), false],
    [
      "throw a revoked proxy",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        throw proxy;
      },
      false,
    ],
    [
      "return a thenable that throws",
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: a hostile thenable is the case under test.
        then() {
          throw new Error("then");
        },
      }),
      false,
    ],
    ["return an empty async iterable", async function* () {}, false],
  ])("%s", async (_what, handler, ok) => {
    const { result } = await callOne(tool("strange", handler));
    expect(result.ok).toBe(ok);
    expect(result.id).toBe("c1");
    const shown = textOf(result.content);
    expect(typeof shown).toBe("string");
    if (!ok) expect(typeof JSON.parse(shown).error).toBe("string");
    expect(() => JSON.stringify(result.content)).not.toThrow();
  });

  it("never settle: the deadline answers, the signal fires, the process goes on", async () => {
    const aborted = vi.fn();
    const { result } = await callOne(
      tool(
        "stuck",
        (_args, ctx) =>
          new Promise((resolve) => {
            ctx.signal.addEventListener("abort", () => {
              aborted();
              resolve("too late");
            });
          }),
        { timeoutMs: 30 },
      ),
    );
    expect(result).toMatchObject({
      ok: false,
      error: { code: "timeout", message: "stuck timed out after 0.03 s" },
    });
    expect(aborted).toHaveBeenCalledOnce();
  });

  it("block the event loop: the result still comes and the log names the tool", async () => {
    const { result, logged } = await callOne(
      tool("heavy", () => {
        const until = performance.now() + 1_100;
        while (performance.now() < until);
        return "done";
      }),
    );
    expect(result.ok).toBe(true);
    expect(logged.join()).toMatch(/heavy blocked the event loop/);
  });
});

describe("results", () => {
  it("objects keep their structure next to the text", async () => {
    const { result } = await callOne(tool("rows", () => ({ rows: [1, 2] })));
    expect(result.structured).toEqual({ rows: [1, 2] });
    expect(textOf(result.content)).toBe('{"rows":[1,2]}');
  });

  it("a ToolResult may carry content parts or an error", async () => {
    const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
    expect(
      (await callOne(tool("pic", () => new ToolResult({ success: true, content: [image] })))).result.content,
    ).toEqual([image]);
    expect(
      (await callOne(tool("no", () => new ToolResult({ success: false, error: "refused" })))).result.error
        ?.message,
    ).toBe("refused");
  });

  it("the last value of an async iterable is the result, the others are progress", async () => {
    const subject = tool("steps", async function* () {
      yield { message: "half way" };
      yield "finished";
    });
    const { runtime } = await testRuntime([subject]);
    const seen: unknown[] = [];
    runtime.events.on((event) => event.type === "call.progress" && seen.push(event.progress));
    const result = await (await runtime.openSession()).call({ name: "steps" });
    expect(textOf(result.content)).toBe("finished");
    expect(seen).toEqual([{ message: "half way" }]);
  });

  it("too large ones are saved whole and shown as a preview that ends at a line", async () => {
    const line = "0123456789".repeat(8);
    const whole = Array.from({ length: 2_000 }, () => line).join("\n");
    const { result } = await callOne(tool("big", () => whole));
    expect(result.truncated).toBe(true);
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(result.spilled_to ?? "", "utf8")).toBe(whole);
    const shown = textOf(result.content);
    expect(shown).toContain("<persisted-output>");
    expect(shown.length).toBeLessThan(4_000);
  });

  it("a tool that pages itself is never spilled", async () => {
    const { result } = await callOne(
      tool("pager", () => "x".repeat(300_000), { maxResultSizeChars: Number.POSITIVE_INFINITY }),
    );
    expect(result.truncated).toBe(false);
    expect(textOf(result.content)).toHaveLength(300_000);
  });

  it("the largest results of a turn are spilled until the turn fits", async () => {
    const { runtime } = await testRuntime([tool("big", (args: { x: number }) => "y".repeat(args.x))]);
    const session = await runtime.openSession();
    const sizes = [90_000, 80_000, 70_000, 10_000];
    const results = await session.callAll(sizes.map((x) => ({ name: "big", arguments: { x } })));
    expect(results.map((result) => result.truncated)).toEqual([true, false, false, false]);
  });
});

describe("hooks", () => {
  it("may block, with a message", async () => {
    const handler = vi.fn(() => "ran");
    const { runtime } = await testRuntime([tool("a", handler)]);
    runtime.hooks.on("pre_tool_call", () => ({ action: "block", message: "not today" }));
    const result = await (await runtime.openSession()).call({ name: "a" });
    expect(result.error).toEqual({ code: "blocked", message: "not today" });
    expect(handler).not.toHaveBeenCalled();
  });

  it("may modify arguments, which are checked again", async () => {
    const strict = defineTool({
      name: "a",
      description: "",
      parameters: { type: "object", properties: { n: { type: "integer", maximum: 5 } } },
      handler: (args) => `n=${args.n}`,
    });
    const { runtime } = await testRuntime([strict]);
    const off = runtime.hooks.on("pre_tool_call", () => ({ action: "modify", args: { n: "4" } }));
    const session = await runtime.openSession();
    expect(textOf((await session.call({ name: "a", arguments: { n: 1 } })).content)).toBe("n=4");
    off();
    runtime.hooks.on("pre_tool_call", () => ({ action: "modify", args: { n: 99 } }));
    expect((await session.call({ name: "a", arguments: { n: 1 } })).error?.code).toBe("invalid_arguments");
  });

  it("may ask for a person; without one that is a denial", async () => {
    const { runtime } = await testRuntime([tool("a", () => "ran")]);
    runtime.hooks.on("pre_tool_call", () => ({ action: "ask", message: "sure?" }));
    const alone = await (await runtime.openSession()).call({ name: "a" });
    expect(alone.error?.code).toBe("denied");
    const approver: Approver = { ask: async (request) => (request.reason === "sure?" ? "once" : "deny") };
    expect((await (await runtime.openSession({ approver })).call({ name: "a" })).ok).toBe(true);
  });

  it("block beats ask, in order, and nonsense answers are ignored", async () => {
    const { runtime } = await testRuntime([tool("a", () => "ran")]);
    const order: string[] = [];
    runtime.hooks.on("pre_tool_call", () => void order.push("late"), { order: 10 });
    runtime.hooks.on(
      "pre_tool_call",
      () => {
        order.push("early");
        return { action: "block" };
      },
      { order: -1 },
    );
    runtime.hooks.on("pre_tool_call", () => {
      order.push("middle");
      return "yes";
    });
    const session = await runtime.openSession();
    expect((await session.call({ name: "a" })).ok).toBe(true);
    expect(order).toEqual(["early", "middle", "late"]);
    runtime.hooks.on("pre_tool_call", () => ({ action: "ask", message: "?" }), { order: 20 });
    runtime.hooks.on("pre_tool_call", () => ({ action: "block", message: "stop" }), { order: 30 });
    expect((await session.call({ name: "a" })).error?.code).toBe("blocked");
  });

  it("are isolated when they throw, block when told to fail closed, and block when they never answer", async () => {
    const { runtime, logged } = await testRuntime([tool("a", () => "ran")], {
      flags: { "hooks.timeout_seconds": 1 },
    });
    const fail = () => {
      throw new Error("hook bug");
    };
    const off = [
      runtime.hooks.on("pre_tool_call", fail),
      runtime.hooks.on("post_tool_call", fail),
      runtime.hooks.on("transform_tool_result", fail),
    ];
    const session = await runtime.openSession();
    expect((await session.call({ name: "a" })).ok).toBe(true);
    expect(logged.filter((line) => line.includes("hook bug"))).toHaveLength(3);
    for (const remove of off) remove();
    const remove = runtime.hooks.on("pre_tool_call", fail, { onFailure: "closed" });
    expect((await session.call({ name: "a" })).error?.code).toBe("blocked");
    remove();
    runtime.hooks.on("pre_tool_call", () => new Promise(() => undefined));
    expect((await session.call({ name: "a" })).error?.code).toBe("blocked");
  });

  it("see every tool, agent-loop tools included, and may replace the result", async () => {
    const seen: string[] = [];
    const todo = tool("todo", () => "list", { host: "todos" });
    const { runtime } = await testRuntime([todo]);
    runtime.hooks.on("pre_tool_call", (event) => void seen.push(`pre ${event.tool}`));
    runtime.hooks.on("post_tool_call", (event) => void seen.push(`post ${event.tool} ${event.status}`));
    runtime.hooks.on("transform_tool_result", (event) => event.text.toUpperCase());
    runtime.hooks.on("transform_tool_result", () => "never reached");
    const host = { todos: { read: () => [], write: () => undefined } };
    const result = await (await runtime.openSession({ host })).call({ name: "todo" });
    expect(textOf(result.content)).toBe("LIST");
    expect(seen).toEqual(["pre todo", "post todo ok"]);
  });
});

describe("agent-loop tools", () => {
  it("answer with the documented error where no agent loop provides their state", async () => {
    const { result } = await callOne(tool("memory", () => "x", { host: "memory" }));
    expect(result.error).toMatchObject({
      code: "unavailable",
      message: "memory must be handled by the agent loop",
    });
  });
});

describe("approval", () => {
  const risky = tool("terminal", () => "ran", {
    permissions: ["terminal:execute"],
    effects: (args: { x: string }) => [{ action: "terminal:execute", resource: args.x, mode: "execute" }],
  });
  const ask = async (command: string, approver?: Approver, options = {}) => {
    const { runtime } = await testRuntime([risky], options);
    const session = await runtime.openSession(approver === undefined ? {} : { approver });
    return session.call({ name: "terminal", arguments: { x: command } });
  };

  it("harmless commands run unasked, dangerous ones are denied when nobody can be asked", async () => {
    expect((await ask("git status")).ok).toBe(true);
    expect(await ask("rm -rf build")).toMatchObject({
      ok: false,
      error: { code: "denied" },
      decision: { verdict: "ask", answer: "nobody" },
    });
  });

  it.each([
    ["once", true],
    ["session", true],
    ["deny", false],
    ["yes please", false],
    ["", false],
  ])("the answer %j", async (answer, ok) => {
    expect((await ask("rm -rf build", { ask: async () => answer as never })).ok).toBe(ok);
  });

  it("an approver that throws or stays silent is a no", async () => {
    expect((await ask("rm -rf build", { ask: async () => Promise.reject(new Error("x")) })).error?.code).toBe(
      "denied",
    );
    const silent: Approver = { ask: () => new Promise(() => undefined) };
    expect((await ask("rm -rf build", silent, { flags: { "approvals.timeout": 1 } })).error?.code).toBe(
      "timed_out_waiting",
    );
  });

  it("a session answer covers the same kind of command for the rest of the session only", async () => {
    const asked = vi.fn(async () => "session" as const);
    const { runtime } = await testRuntime([risky]);
    const session = await runtime.openSession({ approver: { ask: asked } });
    for (const command of ["rm -rf a", "rm -rf b", "git push --force"])
      await session.call({ name: "terminal", arguments: { x: command } });
    expect(asked).toHaveBeenCalledTimes(2);
    const other = await runtime.openSession();
    expect((await other.call({ name: "terminal", arguments: { x: "rm -rf a" } })).ok).toBe(false);
  });

  it("what is hardline stays refused with approval and with yolo", async () => {
    for (const command of [
      "rm -rf /",
      "sudo rm -rf ~",
      ":(){ :|:& };:",
      "mkfs.ext4 /dev/sda1",
      "dd if=x of=/dev/sda",
      "kill -9 -1",
      "reboot",
    ]) {
      const result = await ask(command, { ask: async () => "once" }, { yolo: true });
      expect(result, command).toMatchObject({ ok: false, error: { code: "denied" } });
    }
  });
});

describe("scope", () => {
  it("a tool outside the session's view cannot be called, under any spelling", async () => {
    const { runtime } = await testRuntime([
      tool("read_file", () => "x", { toolset: "file" }),
      tool("other", () => "y"),
    ]);
    const session = await runtime.openSession({ toolsets: ["custom"] });
    for (const name of ["read_file", "file_read", "functions.read_file", "READ_FILE"]) {
      expect((await session.call({ name })).error?.code, name).toBe("not_found");
    }
    expect((await session.call({ name: "other" })).ok).toBe(true);
  });

  it("a profile that grants nothing of the kind denies it", async () => {
    const writer = tool("w", () => "x", { permissions: ["file:write"] });
    const { runtime } = await testRuntime([writer]);
    const session = await runtime.openSession({ profile: "readonly_research" });
    expect((await session.call({ name: "w" })).error?.code).toBe("denied");
    await expect(runtime.openSession({ profile: "nope" })).rejects.toThrow(/profile/);
  });

  it("another environment than the one that exists is an error, never a fallback", async () => {
    const { runtime } = await testRuntime([tool("a", () => "x")]);
    await expect(runtime.openSession({ environment: "docker" })).rejects.toThrow(/docker/);
  });

  it("a vanished tool answers unavailable; a reloaded one is picked up", async () => {
    const { runtime, registry } = await testRuntime([tool("a", () => "old"), tool("b", () => "b")]);
    const session = await runtime.openSession();
    registry.add(tool("a", () => "new"));
    expect(textOf((await session.call({ name: "a" })).content)).toBe("new");
    registry.deregister("b");
    expect((await session.call({ name: "b" })).error?.code).toBe("unavailable");
    registry.add(tool("late", () => "x"));
    expect((await session.call({ name: "late" })).error?.code).toBe("not_found");
  });
});

describe("writing outside", () => {
  it("is asked about, inside the working folder it is not", async () => {
    const writer = tool("w", () => "x", {
      permissions: ["file:write"],
      effects: (args: { x: string }) => [{ action: "file:write", resource: args.x, mode: "write" }],
    });
    const { runtime, cwd } = await testRuntime([writer]);
    const session = await runtime.openSession();
    expect((await session.call({ name: "w", arguments: { x: `${cwd}/a.txt` } })).ok).toBe(true);
    for (const path of ["/etc/hosts", "/opt/x", `${cwd}/.git/hooks/pre-commit`, `${cwd}/.env`]) {
      expect((await session.call({ name: "w", arguments: { x: path } })).error?.code, path).toBe("denied");
    }
    const { symlinkSync } = await import("node:fs");
    const link = `${tempDir()}/link`;
    symlinkSync("/etc", link);
    expect((await session.call({ name: "w", arguments: { x: `${link}/passwd` } })).error?.code).toBe(
      "denied",
    );
  });
});
