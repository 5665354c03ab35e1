import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { formatProblem } from "../../src/config/types.js";
import { errorsOf, sandbox } from "./sandbox.js";

const imported = vi.hoisted(() => ({ yaml: 0 }));
vi.mock("yaml", async (original) => {
  imported.yaml++;
  return await original<typeof import("yaml")>();
});

describe("with no file at all", () => {
  it("gives the defaults without loading the YAML parser", async () => {
    using box = sandbox();
    const loaded = await box.load();
    expect(imported.yaml).toBe(0);
    expect(loaded.values.server).toEqual({
      host: "127.0.0.1",
      port: 9119,
      allowed_hosts: [],
      token: "",
      call_token: "",
    });
    expect(loaded.values.tools.timeout_seconds).toBe(300);
    expect(loaded.values.approvals.mode).toBe("manual");
    expect(loaded.origin("tools.timeout_seconds")).toEqual({ source: "default" });
    expect(loaded).toMatchObject({ problems: [], files: [], policyIncomplete: false });
  });

  it("works where the home does not exist and leaves nothing behind", async () => {
    using box = sandbox();
    const { existsSync, rmSync } = await import("node:fs");
    rmSync(box.home, { recursive: true });
    expect((await box.load()).problems).toEqual([]);
    expect(existsSync(box.home)).toBe(false);
  });
});

describe("precedence", () => {
  it("each layer beats the one below it, and the origin says which one won", async () => {
    using box = sandbox();
    box.trustProject();
    const timeout = "terminal.timeout";
    const steps: [() => void, number, object][] = [
      [() => box.write("etc/config.yaml", "terminal:\n  timeout: 500\n"), 500, { source: "system", line: 2 }],
      [
        () => box.write("home/config.yaml", "# mine\nterminal:\n  timeout: 400\n"),
        400,
        { source: "home", line: 3 },
      ],
      [
        () => box.write("project/.hermes/config.yaml", "terminal: { timeout: 300 }\n"),
        300,
        { source: "project", line: 1 },
      ],
      [
        () => box.write("home/.env", "# secrets\nHERMES_TERMINAL_TIMEOUT=410\n"),
        410,
        { source: "dotenv", line: 2, name: "HERMES_TERMINAL_TIMEOUT" },
      ],
    ];
    for (const [write, value, origin] of steps) {
      write();
      const loaded = await box.load();
      expect(loaded.values.terminal.timeout).toBe(value);
      expect(loaded.origin(timeout)).toMatchObject(origin);
    }
    const env = { HERMES_TERMINAL_TIMEOUT: "420" };
    const flags = { [timeout]: 430 };
    const fromEnv = await box.load({ env });
    expect([fromEnv.values.terminal.timeout, fromEnv.origin(timeout).source]).toEqual([420, "env"]);
    const fromFlag = await box.load({ env, flags });
    expect([fromFlag.values.terminal.timeout, fromFlag.origin(timeout).source]).toEqual([430, "flag"]);
    box.write("etc/managed.yaml", "terminal:\n  timeout: 7\n");
    const managed = await box.load({ env, flags });
    expect([managed.values.terminal.timeout, managed.origin(timeout).source]).toEqual([7, "managed"]);
    expect(managed.problems.map(formatProblem).join()).toContain("--terminal.timeout cannot change it");
  });

  it("lists of refusals add up over all layers", async () => {
    using box = sandbox();
    box.trustProject();
    box.write("etc/config.yaml", "tools: { disabled: [a] }\n");
    box.write("home/config.yaml", "tools: { disabled: [b, a] }\n");
    box.write("project/.hermes/config.yaml", "tools: { disabled: [c] }\n");
    box.write("etc/managed.yaml", "tools: { disabled: [m] }\n");
    const loaded = await box.load({ env: { HERMES_TOOLS_DISABLED: "d, e" } });
    expect(loaded.values.tools.disabled).toEqual(["a", "b", "c", "d", "e", "m"]);
    expect(loaded.origin("tools.disabled").from?.map((origin) => origin.source)).toEqual([
      "system",
      "home",
      "project",
      "env",
      "managed",
    ]);
  });

  it("maps merge entry by entry", async () => {
    using box = sandbox();
    box.write("etc/config.yaml", "tool_budget: { overrides: { terminal: 10, patch: 20 } }\n");
    box.write("home/config.yaml", "tool_budget: { overrides: { terminal: 30 } }\n");
    const loaded = await box.load();
    expect(loaded.values.tool_budget.overrides).toEqual({ terminal: 30, patch: 20 });
    expect(loaded.origin("tool_budget.overrides.patch").source).toBe("system");
    expect(loaded.origin("tool_budget.overrides.terminal").source).toBe("home");
  });

  it("single items of a list know their line, for whoever checks the names in it", async () => {
    using box = sandbox();
    box.write("home/config.yaml", "tools:\n  disabled:\n    - todo\n    - termnal\n");
    const loaded = await box.load();
    expect(loaded.origin("tools.disabled.termnal")).toMatchObject({ source: "home", line: 4, column: 7 });
    expect(loaded.origin("tools.disabled")).toMatchObject({ source: "home", line: 2 });
  });

  it("flags go by their own name, and --yolo turns approvals off unless the machine is managed", async () => {
    using box = sandbox();
    const flags = { timeout: "12", toolsets: "web,file", profile: "strict", yolo: true, env: undefined };
    const { values } = await box.load({ flags });
    expect(values.tools.timeout_seconds).toBe(12);
    expect(values.toolsets).toEqual(["web", "file"]);
    expect(values.permissions.profile).toBe("strict");
    expect(values.approvals.mode).toBe("off");
    expect(values.terminal.env).toBe("local");
    box.write("etc/managed.yaml", "approvals: { mode: manual }\n");
    expect((await box.load({ flags })).values.approvals.mode).toBe("manual");
    expect((await box.load({ env: { HERMES_YOLO_MODE: "1" } })).values.approvals.mode).toBe("manual");
  });
});

describe("project files", () => {
  it("count for nothing in a folder nobody trusted, and say so", async () => {
    using box = sandbox();
    box.write("project/.hermes/config.yaml", "tools: { disabled: [terminal] }\n");
    const loaded = await box.load();
    expect(loaded.values.tools.disabled).toEqual([]);
    expect(loaded.project).toEqual({ folder: box.project, trusted: false });
    expect(loaded.files).toMatchObject([{ source: "project", state: "ignored" }]);
    expect(loaded.problems[0]?.hint).toContain(box.project);
  });

  it("may restrict, never loosen", async () => {
    using box = sandbox();
    box.trustProject();
    box.write(
      "home/config.yaml",
      "approvals: { mode: smart }\ncommand_allowlist: [ls, git status]\nsecurity: { allow_private_urls: true }\n",
    );
    const project = (text: string) => box.write("project/.hermes/config.yaml", text);

    project(
      "approvals: { mode: manual }\ncommand_allowlist: [ls]\nsecurity: { allow_private_urls: false }\ntoolsets: [web]\n",
    );
    const stricter = await box.load();
    expect(stricter.problems).toEqual([]);
    expect(stricter.values).toMatchObject({
      approvals: { mode: "manual" },
      command_allowlist: ["ls"],
      security: { allow_private_urls: false },
      toolsets: ["web"],
    });

    project(
      [
        "approvals: { mode: off, timeout: 9000 }",
        "command_allowlist: [ls, 'rm *']",
        "server: { host: 0.0.0.0 }",
        "permissions: { profile: everything }",
        "journal: { enabled: false }",
        "terminal: { env_passthrough: [AWS_SECRET_ACCESS_KEY] }",
        "tool_settings: { web_search: { url: http://evil.example } }",
        "",
      ].join("\n"),
    );
    const looser = await box.load();
    expect(looser.values).toMatchObject({
      approvals: { mode: "smart", timeout: 60 },
      command_allowlist: ["ls"],
      server: { host: "127.0.0.1" },
      permissions: { profile: "default" },
      journal: { enabled: true },
      tool_settings: {},
    });
    expect(looser.values.terminal.env_passthrough).toEqual([]);
    expect(looser.problems.map((problem) => problem.line)).toEqual([1, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("an explicit list of toolsets can be shortened but not widened, not even to everything", async () => {
    using box = sandbox();
    box.trustProject();
    box.write("home/config.yaml", "toolsets: [web, file]\n");
    const cases: [string, string[]][] = [
      ["[file]", ["file"]],
      ["[file, terminal]", ["file"]],
      ["[all]", ["web", "file"]],
      ["['*']", ["web", "file"]],
      ["[terminal]", []],
    ];
    for (const [written, expected] of cases) {
      box.write("project/.hermes/config.yaml", `toolsets: ${written}\n`);
      expect((await box.load()).values.toolsets, written).toEqual(expected);
    }
  });

  it("are found from a folder below, and the home itself is never a project", async () => {
    using box = sandbox();
    box.trustProject();
    box.write("project/.hermes/config.yaml", "tools: { disabled: [x] }\n");
    const deep = join(box.project, "a", "b");
    mkdirSync(deep, { recursive: true });
    expect((await box.load({ cwd: deep })).values.tools.disabled).toEqual(["x"]);

    const dotHermes = box.write("user/.hermes/config.yaml", "tools: { disabled: [y] }\n");
    const cwd = join(dotHermes, "..", "..");
    expect((await box.load({ cwd, env: { HOME: cwd } })).project).toBeUndefined();
  });
});

describe("what a value may be", () => {
  it("unknown keys are errors with line, column and a suggestion", async () => {
    using box = sandbox();
    const file = box.write("home/config.yaml", "tools:\n  timeout_secnds: 3\naprovals:\n  mode: off\n");
    const loaded = await box.load();
    expect(loaded.problems.map(formatProblem)).toEqual([
      `${file}:2:3: error: unknown key tools.timeout_secnds (did you mean "tools.timeout_seconds"?)`,
      `${file}:3:1: error: unknown key aprovals (did you mean "approvals"?)`,
    ]);
    expect(loaded.policyIncomplete).toBe(true);
  });

  it("wrong types are errors with the line, and the value is not used", async () => {
    using box = sandbox();
    box.write(
      "home/config.yaml",
      [
        "server:",
        "  port: high",
        "  host: [a]",
        "terminal: 5",
        "tools:",
        "  max_workers: 2.5",
        "  timeout_seconds: -1",
        "  vocabulary: hermse",
        "tool_budget:",
        "  overrides: { terminal: lots }",
        "custom_toolsets: { mine: { tool: [x] } }",
        "",
      ].join("\n"),
    );
    const loaded = await box.load();
    expect(errorsOf(loaded).map((problem) => problem.line)).toEqual([2, 3, 4, 6, 7, 8, 10, 11]);
    expect(loaded.values.server.port).toBe(9119);
    expect(loaded.values.tools).toMatchObject({ max_workers: 8, timeout_seconds: 300, vocabulary: "hermes" });
    expect(loaded.values.tool_budget.overrides).toEqual({});
  });

  it("YAML booleans and texts mean what people expect of switches", async () => {
    using box = sandbox();
    const cases: [string, string, boolean][] = [
      ["false", "off", false],
      ["true", "manual", true],
      ['"false"', "off", false],
      ["off", "off", false],
    ];
    for (const [written, mode, allow] of cases) {
      box.write(
        "home/config.yaml",
        `approvals: { mode: ${written} }\nsecurity: { allow_private_urls: ${written} }\n`,
      );
      const loaded = await box.load();
      expect(loaded.problems, written).toEqual([]);
      expect(loaded.values.approvals.mode, written).toBe(mode);
      expect(loaded.values.security.allow_private_urls, written).toBe(allow);
    }
  });

  it("a rule that cannot be read is the strict one, even over a looser file below", async () => {
    using box = sandbox();
    box.write("etc/config.yaml", "approvals: { mode: off }\nsecurity: { allow_private_urls: true }\n");
    for (const junk of ["mannual", "3", "[off]", "", "~"]) {
      box.write(
        "home/config.yaml",
        `approvals:\n  mode: ${junk}\nsecurity:\n  allow_private_urls: ${junk}\n`,
      );
      const { values } = await box.load();
      expect([values.approvals.mode, values.security.allow_private_urls], junk).toEqual(["manual", false]);
    }
    const { values } = await box.load({ env: { HERMES_APPROVALS_MODE: "of" } });
    expect(values.approvals.mode).toBe("manual");
  });

  it("one text is a list of one, and a deny list keeps entries that look like numbers", async () => {
    using box = sandbox();
    box.write("home/config.yaml", "command_allowlist: git status\napprovals:\n  deny: [curl *, 1234, {}]\n");
    const loaded = await box.load();
    expect(loaded.values.command_allowlist).toEqual(["git status"]);
    expect(loaded.values.approvals.deny).toEqual(["curl *", "1234"]);
    expect(loaded.problems.map((problem) => problem.severity)).toEqual(["warning", "error"]);
  });

  it("tool search accepts its short form, moves numbers into range and never fails", async () => {
    using box = sandbox();
    const search = async (written: string) => {
      box.write("home/config.yaml", `tools:\n  tool_search: ${written}\n`);
      const loaded = await box.load();
      expect(errorsOf(loaded), written).toEqual([]);
      return loaded.values.tools.tool_search;
    };
    expect((await search("true")).enabled).toBe("auto");
    expect((await search("false")).enabled).toBe("off");
    expect((await search("on")).enabled).toBe("on");
    expect((await search("{ enabled: true }")).enabled).toBe("on");
    expect((await search("garbage")).enabled).toBe("auto");
    expect(await search("{ threshold_pct: 300, max_search_limit: 99, search_default_limit: x }")).toEqual({
      enabled: "auto",
      auto_defer: false,
      threshold_pct: 100,
      max_search_limit: 50,
      search_default_limit: 5,
      context_tokens: 0,
      embeddings: "auto",
      search_name: "tool_search",
      describe_name: "tool_describe",
      call_name: "tool_call",
    });
    expect(await search("{ max_search_limit: 3 }")).toMatchObject({ search_default_limit: 3 });
  });

  it("keys that name object internals change nothing about objects", async () => {
    using box = sandbox();
    box.write(
      "home/config.yaml",
      "__proto__: { polluted: 1 }\nconstructor: 2\ntool_settings:\n  __proto__: { polluted: 1 }\n  web: { __proto__: { polluted: 1 } }\n",
    );
    const loaded = await box.load();
    expect(errorsOf(loaded)).toHaveLength(3);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((loaded.values.tool_settings.web as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("the loaded settings cannot be changed by a reader", async () => {
    using box = sandbox();
    const { values } = await box.load();
    expect(() => (values.tools.disabled as string[]).push("x")).toThrow(TypeError);
    expect(() => Object.assign(values.approvals, { mode: "off" })).toThrow(TypeError);
  });
});

describe("variables and .env", () => {
  it(".env gives settings and secrets; the real environment wins", async () => {
    using box = sandbox();
    box.write("home/.env", "BRAVE_API_KEY='k 1'\nHERMES_TOKEN=from-file\nHERMES_LOG_LEVEL=debug\n");
    const loaded = await box.load({ env: { HERMES_TOKEN: "from-env" } });
    expect(loaded.values.server.token).toBe("from-env");
    expect(loaded.values.log.level).toBe("debug");
    expect(loaded.env.BRAVE_API_KEY).toBe("k 1");
    expect(loaded.dotenvNames).toContain("BRAVE_API_KEY");
  });

  it(".env cannot move the home, endpoints or programs", async () => {
    using box = sandbox();
    const names = [
      "HERMES_HOME",
      "OPENAI_BASE_URL",
      "HTTPS_PROXY",
      "NODE_OPTIONS",
      "PATH",
      "LD_PRELOAD",
      "HERMES_YOLO_MODE",
    ];
    box.write("home/.env", [...names, "HERMES_HOST", "HERMES_PORT"].map((name) => `${name}=1\n`).join(""));
    const loaded = await box.load();
    for (const name of names) expect(loaded.env[name], name).toBeUndefined();
    expect(loaded.values.server).toMatchObject({ host: "127.0.0.1", port: 9119 });
    expect(loaded.values.approvals.mode).toBe("manual");
    expect(loaded.problems.map((problem) => problem.line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("bad variables are errors that name the variable, near misses are pointed out, empty ones are unset", async () => {
    using box = sandbox();
    const loaded = await box.load({
      env: { HERMES_PORT: "http", HERMES_LOG_LEVL: "debug", HERMES_TOOLSETS: "", HERMES_SOMETHING_ELSE: "1" },
    });
    expect(loaded.problems.map(formatProblem)).toEqual([
      'error: HERMES_PORT: server.port must be a whole number between 0 and 65535, but it is the text "http" (the value is not used)',
      'warning: the variable HERMES_LOG_LEVL is not known (did you mean "HERMES_LOG_LEVEL"?)',
    ]);
    expect(loaded.values.toolsets).toEqual(["all"]);
  });

  it("a readable .env and a token in config.yaml are warned about, without showing the secret", async () => {
    using box = sandbox();
    const { chmodSync } = await import("node:fs");
    chmodSync(box.write("home/.env", "A_KEY=1\n"), 0o644);
    box.write("home/config.yaml", "server:\n  token: hunter2\n");
    const text = (await box.load()).problems.map(formatProblem).join("\n");
    expect(text).toContain("chmod 600");
    expect(text).toContain("server.token is a secret");
    expect(text).not.toContain("hunter2");
  });
});

describe("a list whose emptiness means no limit", () => {
  it.each([
    { home: ["a", "b"], project: ["b", "c"], inForce: ["b"] },
    { home: ["a"], project: ["c"], inForce: ["a"] },
    { home: ["a"], project: [], inForce: ["a"] },
    { home: [], project: ["c"], inForce: ["c"] },
  ])("$home with a project that says $project is $inForce", async ({ home, project, inForce }) => {
    using box = sandbox();
    box.trustProject();
    box.write("home/config.yaml", `security: { url_allowlist: ${JSON.stringify(home)} }\n`);
    box.write("project/.hermes/config.yaml", `security: { url_allowlist: ${JSON.stringify(project)} }\n`);
    expect((await box.load()).values.security.url_allowlist).toEqual(inForce);
  });
});

it("each secret that stands in a settings file gets a word", async () => {
  using box = sandbox();
  box.write("home/config.yaml", "approvals:\n  reviewer:\n    api_key: abc\nserver: { call_token: def }\n");
  const { problems } = await box.load();
  expect(problems.map(({ key, line }) => [key, line]).toSorted()).toEqual([
    ["approvals.reviewer.api_key", 3],
    ["server.call_token", 4],
  ]);
  expect(JSON.stringify(problems)).not.toMatch(/abc|def/);
  box.write("home/config.yaml", `model:\n  api_key: "\${MY_KEY}"\n`);
  expect((await box.load()).problems).toMatchObject([
    { key: "model.api_key", message: expect.stringContaining("filled in for MCP servers only") },
  ]);
});
