import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { complete } from "../../../src/model/model-client.js";
import { textOf } from "../../../src/tool/content.js";
import { type House, house, manifest, statusOf } from "./support.js";

async function with1(
  home: House,
  plugin: { readonly lines: readonly string[]; readonly code: string; readonly config?: string },
) {
  home.plugin("p1", { "plugin.yaml": manifest("p1", ...plugin.lines), "index.mjs": plugin.code });
  home.config(`plugins:\n  enabled: [p1]\n${plugin.config ?? ""}`);
  await home.confirm("p1");
}

describe("toolsets", () => {
  const code = `export default (ctx) => {
  ctx.tool({ name: "dig", toolset: "garden", schema: {}, handler: () => "dug" });
  ctx.tool({ name: "rest", schema: {}, handler: () => "rested" });
  ctx.toolset("garden", { description: "Work outside", tools: ["rest"] });
};`;
  const lines = ["provides_tools: [dig, rest]", "provides_toolsets: [garden]"];

  it("can be chosen for a session like any other, and go with their plugin", async () => {
    const home = house();
    await with1(home, { lines, code });
    const runtime = await home.open();
    expect(runtime.toolsets().find(({ name }) => name === "garden")).toMatchObject({
      description: "Work outside",
      resolved: ["dig", "rest"],
    });
    const session = await runtime.openSession({ toolsets: ["garden"] });
    expect(await session.call({ name: "dig" })).toMatchObject({ ok: true });
    home.config("plugins:\n  enabled: []\n");
    await home.refresh(runtime);
    expect(runtime.toolsets().some(({ name }) => name === "garden")).toBe(false);
    await expect(runtime.openSession({ toolsets: ["garden"] })).rejects.toThrow("garden");
  });

  it("of the person's own configuration are not taken over", async () => {
    const home = house();
    await with1(home, { lines, code, config: "custom_toolsets:\n  garden: { tools: [] }\n" });
    expect(statusOf(await home.open(), "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("garden is written in custom_toolsets already"),
    });
  });
});

describe("environments", () => {
  it("built upon a built-in one run commands and carry their own name", async () => {
    const home = house();
    await with1(home, {
      lines: ["provides_environments: [attic]"],
      code: `export default (ctx) => ctx.environment("attic", async ({ builtin, task }) => {
  const local = await builtin("local");
  return { ...local, exec: (request) => local.exec({ ...request, env: { ...request.env, ATTIC: task } }) };
});`,
      config: "terminal:\n  env: attic\n",
    });
    const runtime = await home.open({ builtins: true });
    const session = await runtime.openSession({ task: "t1" });
    const result = await session.call({ name: "terminal", arguments: { command: "echo in=$ATTIC" } });
    expect(textOf(result.content)).toContain("in=t1");
    expect(session.scope.environment.name).toBe("attic");
    const listed = (await runtime.listTools()).find(({ name }) => name === "terminal");
    expect(listed).toMatchObject({ available: true });
  });

  it("are made of nothing but a way to start programs", async () => {
    const home = house();
    await with1(home, {
      lines: ["provides_environments: [cellar]"],
      code: `import { spawn } from "node:child_process";
const transport = {
  async start({ argv, stdin, onStdout, onStderr }) {
    const child = spawn(argv[0], argv.slice(1), { stdio: "pipe" });
    child.stdin.on("error", () => {});
    child.stdout.on("data", onStdout);
    child.stderr.on("data", onStderr);
    if (stdin !== "open") child.stdin.end(stdin ?? "");
    const ended = new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 137 })));
    return {
      ended,
      write: async (data) => void child.stdin.write(data),
      closeInput: async () => void child.stdin.end(),
      resize() {},
      pauseOutput: (paused) => (paused ? child.stdout.pause() : child.stdout.resume()),
      abandon: () => child.kill("SIGKILL"),
    };
  },
};
export default (ctx) => ctx.environment("cellar", ({ remote }) =>
  remote({ transport, defaultCwd: "/", loginShell: false, close: async () => {}, facts: async () => ({}) }));`,
    });
    const runtime = await home.open({ builtins: true });
    const session = await runtime.openSession({ environment: "cellar" });
    expect(session.scope.environment.kind).toBe("plugin");
    const result = await session.call({ name: "terminal", arguments: { command: "echo $((40 + 2))" } });
    expect(textOf(result.content)).toContain("42");
  });

  it("that are not there are an error that names those that are", async () => {
    const home = house();
    await with1(home, {
      lines: ["provides_environments: [attic, wreck]"],
      code: `export default (ctx) => {
  ctx.environment("attic", () => { throw new Error("the ladder is gone"); });
  ctx.environment("wreck", () => ({}));
};`,
    });
    const runtime = await home.open();
    await expect(runtime.openSession({ environment: "attik" })).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/no environment called "attik".*ssh, attic, wreck/),
    });
    await expect(runtime.openSession({ environment: "attic" })).rejects.toThrow("the ladder is gone");
    await expect(runtime.openSession({ environment: "wreck" })).rejects.toThrow("it has no exec");
  });

  it("may not have a name that begins like a built-in one", async () => {
    const home = house();
    await with1(home, {
      lines: ["provides_environments: [docker-mine]"],
      code: `export default (ctx) => ctx.environment("docker-mine", () => ({}));`,
    });
    expect(statusOf(await home.open(), "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("built-in"),
    });
  });
});

describe("approvers", () => {
  const lines = [
    "provides_approvers: [pager]",
    "provides_hooks: [pre_tool_call]",
    "provides_tools: [launch]",
  ];
  const code = (answer: string) => `export default (ctx) => {
  ctx.tool({ name: "launch", schema: {}, handler: () => "launched" });
  ctx.hook("pre_tool_call", () => ({ action: "ask", message: "really?" }));
  ctx.approver("pager", () => ({ ask: async ({ tool, reason }) => ${answer} }));
};`;

  it("answer in the place of the person when approvals.approver names them", async () => {
    const home = house();
    await with1(home, {
      lines,
      code: code(`({ answer: "once", by: "pager" })`),
      config: "approvals:\n  approver: pager\n",
    });
    const session = await (await home.open()).openSession();
    expect(await session.call({ name: "launch" })).toMatchObject({ ok: true });
  });

  it("can say no, and one that fails counts as a no", async () => {
    for (const answer of [`({ answer: "deny", reason: "not today" })`, "{ throw new Error('no signal'); }"]) {
      const home = house();
      await with1(home, { lines, code: code(answer), config: "approvals:\n  approver: pager\n" });
      const session = await (await home.open()).openSession();
      expect(await session.call({ name: "launch" })).toMatchObject({ ok: false, error: { code: "denied" } });
    }
  });

  it("that are named but not there mean no, and nobody else is asked", async () => {
    const home = house();
    await with1(home, { lines, code: code(`"once"`), config: "approvals:\n  approver: nobody\n" });
    const session = await (await home.open()).openSession();
    const result = await session.call({ name: "launch" });
    expect(result).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(JSON.stringify(result)).toContain("no running plugin brings an approver of that name");
  });
});

describe("model providers and commands", () => {
  it("are kept by name", async () => {
    const home = house();
    await with1(home, {
      lines: ["provides_model_providers: [echo]", "provides_commands: [hello]"],
      code: `export default (ctx) => {
  ctx.modelProvider("echo", () => ({
    async *stream({ messages }) {
      yield { type: "text", text: messages.at(-1).content };
      yield { type: "finish", reason: "stop" };
    },
  }));
  ctx.command("hello", { description: "Says hello", run: () => 0 });
};`,
    });
    const runtime = await home.open();
    const { plugins } = runtime.sources;
    expect(plugins?.modelProviderNames()).toEqual(["echo"]);
    const provider = await plugins?.modelProvider("echo")?.();
    if (provider === undefined) throw new Error("there is no provider");
    const answer = await complete(provider, { messages: [{ role: "user", content: "hi" }] });
    expect(answer).toMatchObject({ text: "hi", reason: "stop" });
    expect(plugins?.command("hello")).toMatchObject({ plugin: "p1", command: { description: "Says hello" } });
  });

  it("cannot be taken from another plugin", async () => {
    const home = house();
    const code = `export default (ctx) => ctx.command("hello", { description: "", run: () => 0 });`;
    await with1(home, { lines: ["provides_commands: [hello]"], code });
    home.plugin("p2", { "plugin.yaml": manifest("p2", "provides_commands: [hello]"), "index.mjs": code });
    await home.confirm("p2");
    home.config("plugins:\n  enabled: [p1, p2]\n");
    const runtime = await home.open();
    expect(statusOf(runtime, "p1")).toMatchObject({ state: "ready" });
    expect(statusOf(runtime, "p2")).toMatchObject({
      state: "failed",
      reason: "the command hello belongs to the plugin p1 already",
    });
  });
});

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "plugins.md"), "utf8");

function blocks(language: string): readonly string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , text]) => text ?? "");
}

it("every example of docs/plugins.md is a plugin that works", async () => {
  const home = house();
  const codes = blocks("js");
  const names = blocks("yaml").map((manifest, index) => {
    const name = /^name: (.*)$/m.exec(manifest)?.[1] ?? "";
    home.plugin(name, { "plugin.yaml": manifest, "index.mjs": codes[index] ?? "" });
    return name;
  });
  expect(names).toEqual(["degrees", "office-hours", "house"]);
  for (const name of names) await home.confirm(name);
  home.config(`plugins:\n  enabled: [${names.join(", ")}]\napprovals:\n  approver: doorbell\n`);
  const runtime = await home.open({ builtins: true });
  for (const name of names) expect(statusOf(runtime, name)).toMatchObject({ state: "ready" });
  const session = await runtime.openSession({ environment: "attic" });
  const converted = await session.call({ name: "to_celsius", arguments: { fahrenheit: 212 } });
  expect(textOf(converted.content)).toBe('{"celsius":100}');
  const said: string[] = [];
  const invocation = { words: ["50"], options: { unit: true }, print: (text: string) => said.push(text) };
  runtime.sources.plugins?.command("celsius")?.command.run(invocation as never);
  expect(said).toEqual(["10 °C"]);
  const refused = await session.call({ name: "terminal", arguments: { command: "rm -rf ./everything" } });
  expect(refused.error).toMatchObject({
    code: "denied",
    message: expect.stringContaining("nobody opened the door"),
  });
});
