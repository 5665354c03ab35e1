import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { trustFolder } from "../../../src/config/trust.js";
import { createLogger, defineTool, ToolRegistry } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { tempDir } from "../../support/runtime.js";
import { yamlRuntime } from "./setup.js";

const echo = (name: string, text: string, more = "") =>
  `tools:\n  - { name: ${name}, description: Say it, type: command, command: [echo, ${text}]${more} }\n`;

async function said(call: (name: string) => Promise<{ content: readonly unknown[] }>, name: string) {
  return ((await call(name)).content[0] as { text: string }).text.trim();
}

describe("the tool folder", () => {
  test("a changed file replaces its tools, a removed one takes them along", async () => {
    const { runtime, registry, write, reload, call, home } = await yamlRuntime({
      "a.yaml": echo("a", "one"),
      "b.yml": echo("b", "two"),
    });
    expect(await said(call, "a")).toBe("one");
    const b = registry.get("b");
    write("a.yaml", echo("a", "changed"));
    await reload();
    expect(await said(call, "a")).toBe("changed");
    expect(registry.get("b")).toBe(b);
    write("a.yaml", echo("renamed", "x"));
    unlinkSync(join(home, "tools", "b.yml"));
    await reload();
    expect([...registry.snapshot().entries.keys()]).toEqual(["renamed"]);
    expect(runtime.sources.status()).toMatchObject([{ state: "ready", tools: ["renamed"], quarantined: [] }]);
  });

  test("a file that is broken keeps its old tools and says where it is broken", async () => {
    const { runtime, write, reload, call, home } = await yamlRuntime({ "a.yaml": echo("a", "one") });
    write("a.yaml", `${echo("a", "two")}  - { name: 5x, description: d, type: comand }\n`);
    await reload();
    const file = join(home, "tools", "a.yaml");
    expect(runtime.sources.status()).toEqual([
      {
        source: `yaml:${file}`,
        state: "degraded",
        tools: ["a"],
        reason: expect.stringMatching(
          /a\.yaml:3:\d+: error: .*"command".*\(and 1 more\); the tools of its last/,
        ),
        fix: `hermes tools check ${file}`,
        quarantined: [],
      },
    ]);
    expect(await said(call, "a")).toBe("one");
    write("a.yaml", echo("a", "three"));
    await reload();
    expect(await said(call, "a")).toBe("three");
    expect(runtime.sources.status()).toMatchObject([{ state: "ready" }]);
  });

  test("a file that was never good brings nothing and hides nothing", async () => {
    const { runtime, call } = await yamlRuntime({ "a.yaml": "tools: {", "b.yaml": echo("b", "fine") });
    expect(runtime.sources.status()).toMatchObject([
      { state: "failed", tools: [], reason: expect.stringContaining("a.yaml:1:") },
      { state: "ready", tools: ["b"] },
    ]);
    expect(await said(call, "b")).toBe("fine");
  });

  test("a file in another encoding than UTF-8 is refused, not read with holes in it", async () => {
    const { runtime, write, reload, home } = await yamlRuntime({ "a.yaml": echo("a", "one") });
    writeFileSync(join(home, "tools", "a.yaml"), Buffer.from(echo("a", "Größe"), "latin1"));
    await reload();
    expect(runtime.sources.status()).toMatchObject([
      { state: "degraded", tools: ["a"], reason: expect.stringContaining("it is not UTF-8 text") },
    ]);
    write("a.yaml", echo("a", "Größe"));
    await reload();
    expect(runtime.sources.status()).toMatchObject([{ state: "ready" }]);
  });

  test("a name that is taken stays with its owner; when that one goes, the other gets it", async () => {
    const builtin = defineTool({
      name: "own",
      toolset: "core",
      description: "d",
      parameters: { type: "object" },
      handler: () => "core",
    }) as AnyTool;
    const told: string[] = [];
    const logger = createLogger({ sink: (line) => void told.push(line) });
    const { runtime, registry, reload, call, home } = await yamlRuntime(
      {
        "a.yaml": echo("same", "a"),
        "b.yaml": `${echo("same", "b")}  - { name: own, description: d, type: command, command: [echo] }\n`,
      },
      { tools: [builtin], registry: new ToolRegistry({ logger }) },
    );
    expect(runtime.sources.status()[1]).toMatchObject({
      state: "degraded",
      tools: [],
      quarantined: [{ name: "same" }, { name: "own", reason: expect.stringContaining("core") }],
    });
    expect(told.filter((line) => line.includes("same of toolset"))).toHaveLength(1);
    expect(await said(call, "same")).toBe("a");
    unlinkSync(join(home, "tools", "a.yaml"));
    await reload();
    expect(await said(call, "same")).toBe("b");
    expect(registry.get("own")?.tool).toBe(builtin);
  });

  test("a tool that is switched off in its file is checked, but not there", async () => {
    const { registry } = await yamlRuntime({ "a.yaml": echo("a", "x", ", enabled: false") });
    expect(registry.get("a")).toBeUndefined();
  });

  test("a project's tools count only when the project is trusted", async () => {
    const project = tempDir();
    mkdirSync(join(project, ".hermes", "tools"), { recursive: true });
    writeFileSync(join(project, ".hermes", "tools", "p.yaml"), echo("p", "x"));
    const stranger = await yamlRuntime({ "a.yaml": echo("a", "x") }, { cwd: project });
    expect(stranger.registry.get("p")).toBeUndefined();
    const home = tempDir();
    await trustFolder({ home, folder: project });
    const friend = await yamlRuntime({}, { home, cwd: project });
    expect(await said(friend.call, "p")).toBe("x");
  });

  test("credentials named by a file are masked everywhere, also those set later", async () => {
    const { runtime, reload, write } = await yamlRuntime(
      { "a.yaml": echo("a", "x") },
      { variables: { PLAIN_NAME: "value-nobody-would-guess" } },
    );
    expect(runtime.secrets.redact("value-nobody-would-guess")).toContain("nobody");
    write(
      "b.yaml",
      "tools: [{ name: b, description: d, type: http_wrapper, endpoint: 'https://x.example', auth: { type: bearer, token_env: PLAIN_NAME } }]",
    );
    await reload();
    expect(runtime.secrets.redact("value-nobody-would-guess")).toBe("[REDACTED:PLAIN_NAME]");
  });

  test("harmless variables that a command is given stay readable", async () => {
    const { runtime } = await yamlRuntime(
      {
        "a.yaml":
          "tools: [{ name: a, description: d, type: command, command: [env], env: { KUBECONFIG: { env: KUBECONFIG }, A: { env: MY_TOKEN }, B_TOKEN: { env: PLAIN } } }]",
      },
      {
        variables: {
          KUBECONFIG: "/home/somebody/.kube",
          MY_TOKEN: "first-hidden-value",
          PLAIN: "second-hidden-value",
        },
      },
    );
    expect(runtime.secrets.redact("/home/somebody/.kube/config first-hidden-value second-hidden-value")).toBe(
      "/home/somebody/.kube/config [REDACTED:MY_TOKEN] [REDACTED:PLAIN]",
    );
  });

  test("a file that was refused because of another one is taken up when that one changes", async () => {
    const composite = (name: string, tool: string) =>
      `tools: [{ name: ${name}, description: d, type: composite, steps: [{ tool: ${tool} }] }]`;
    const { runtime, write, reload } = await yamlRuntime({
      "a.yaml": composite("a", "b"),
      "b.yaml": composite("b", "a"),
    });
    expect(runtime.sources.status().map(({ state }) => state)).toEqual(["ready", "failed"]);
    write("a.yaml", echo("a", "x"));
    await reload();
    expect(runtime.sources.status().map(({ state }) => state)).toEqual(["ready", "ready"]);
  });
});
