import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { fingerprintOf } from "../../src/sources/plugins/fingerprint.js";
import { readPlugin } from "../../src/sources/plugins/read-plugin.js";
import { confirmPlugin } from "../../src/sources/plugins/trust-rows.js";
import { openStore } from "../../src/store/store.js";
import { codeBlocks, hermesCommands } from "../examples/doc-commands.js";
import { typed } from "../examples/shell.js";
import {
  errorLine,
  hermes,
  hermesJson,
  json,
  type Outcome,
  outcomeOf,
  plainEnvironment,
  root,
  tempFolder,
} from "./hermes.js";

/** A plugin that somebody has looked at and enabled. */
async function enabled(
  home: string,
  name: string,
  files: { readonly manifest?: string; readonly code: string },
) {
  const folder = join(home, "plugins", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "plugin.yaml"), `name: ${name}\n${files.manifest ?? ""}`);
  writeFileSync(join(folder, "index.mjs"), files.code);
  writeFileSync(join(home, "config.yaml"), `plugins:\n  enabled: [${name}]\n`);
  const store = await openStore({ path: join(home, "state.db") });
  const plugin = await readPlugin({ folder, place: "home" });
  await confirmPlugin(store, { plugin, fingerprint: await fingerprintOf(folder), dev: false });
  await store.close();
}

it("a new plugin passes its own test, and runs once a person has said yes, until its files change", async () => {
  const home = tempFolder();
  const folder = join(home, "plugins", "word-count");
  const made = await hermesJson<{ folder: string }>(["plugins", "new", "word-count"], { home });
  expect(made.folder).toBe(folder);
  const { NODE_TEST_CONTEXT: _inside, ...env } = process.env;
  const [tested, unasked, byTool] = await Promise.all([
    outcomeOf(spawn(process.execPath, ["--test"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })),
    hermes(["plugins", "enable", "word-count"], { home }),
    hermes(["plugins", "enable", "word-count", "--yes"], { home, env: { AI_AGENT: "hermes" } }),
  ]);
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 2\b/) });
  expect(unasked).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("brings tools: word_count_count"),
  });
  expect(byTool).toMatchObject({ code: 5, stderr: expect.stringContaining("by a person") });

  const yes = ["plugins", "enable", "word-count", "--yes"];
  const { fingerprint, ...state } = await hermesJson<{ fingerprint: string }>(yes, { home });
  expect(state).toEqual({
    name: "word-count",
    enabled: true,
    dev: false,
    state: "ready",
    tools: ["word_count_count"],
  });
  const call = ["call", "word_count_count", "text=one two three"];
  const [answer, info] = await Promise.all([
    hermes(call, { home }),
    hermesJson(["plugins", "info", "word-count"], { home }),
  ]);
  expect(answer).toEqual({ code: 0, stdout: '{"words":3}\n', stderr: "" });
  expect(info).toMatchObject({
    enabled: true,
    confirmed: true,
    fingerprint,
    brings: { tools: ["word_count_count"], hooks: ["post_tool_call"] },
    files: expect.arrayContaining([{ path: "index.mjs", bytes: expect.any(Number) }]),
  });

  appendFileSync(join(folder, "index.mjs"), "\n");
  const [refused, listed] = await Promise.all([hermes(call, { home }), hermesJson(["plugins"], { home })]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("its files have changed") });
  expect(listed).toMatchObject([
    {
      name: "word-count",
      state: "failed",
      place: "home",
      fix: expect.stringContaining("hermes plugins enable word-count"),
    },
    { name: "honcho", state: "ready", place: "bundled" },
    { name: "rl", state: "ready", place: "bundled" },
  ]);
  const again = await hermes([...yes, "--dev"], { home });
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("CHANGED since you confirmed it") });
  appendFileSync(join(folder, "index.mjs"), "\n");
  expect(await hermes(call, { home })).toMatchObject({ code: 0 });

  const disabled = await hermesJson(["plugins", "disable", "word-count"], { home });
  expect(disabled).toEqual({ name: "word-count", enabled: false });
  const [off, misspelt] = await Promise.all([
    hermesJson(["plugins"], { home }),
    hermes(["plugins", "enable", "word-coutn", "--yes", "--json"], { home }),
  ]);
  expect(off).toMatchObject([{ state: "disabled" }, { name: "honcho" }, { name: "rl" }]);
  expect(errorLine(misspelt)).toMatchObject({ code: "not_found", hint: 'did you mean "word-count"?' });
  // A dozen programs, most of them one after the other: on a slow machine more than the usual time.
}, 120_000);

it("a package is installed from a tarball without running a script of it, and runs after a yes", async () => {
  const home = tempFolder();
  const source = join(tempFolder(), "anything");
  const offline = { npm_config_offline: "true", npm_config_update_notifier: "false" };
  const description = {
    name: "@someone/hermes-plugin-shout",
    version: "1.2.3",
    type: "module",
    main: "index.mjs",
    keywords: ["hermes-plugin"],
    files: ["index.mjs", "lib"],
    scripts: { postinstall: "touch ran-a-script" },
    hermes: { provides_tools: ["shout"] },
  };
  mkdirSync(join(source, "lib"), { recursive: true });
  writeFileSync(join(source, "package.json"), JSON.stringify(description));
  writeFileSync(
    join(source, "index.mjs"),
    'import { words } from "./lib/words.js";\n' +
      'export default (ctx) => ctx.tool({ name: "shout", schema: {}, handler: () => words });\n',
  );
  writeFileSync(
    join(source, "lib", "words.js"),
    'import { VERSION } from "hermes-tools";\nexport const words = ["AHOY", typeof VERSION].join(" ");\n',
  );
  const env = { ...plainEnvironment(home), ...offline };
  const packed = spawnSync("npm", ["pack", "--silent"], { cwd: source, encoding: "utf8", env });
  const tarball = join(source, packed.stdout.trim());
  expect(await hermesJson(["plugins", "install", tarball], { home, env: offline })).toMatchObject({
    name: "shout",
    version: "1.2.3",
    package: description.name,
    next: "hermes plugins enable shout",
  });
  const folder = join(home, "plugins", "node_modules", "@someone", "hermes-plugin-shout");
  expect(existsSync(join(folder, "index.mjs"))).toBe(true);
  expect(existsSync(join(folder, "ran-a-script"))).toBe(false);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain(description.name);
  expect(await hermesJson(["plugins", "enable", "shout", "--yes"], { home })).toMatchObject({
    state: "ready",
  });
  expect(await hermes(["call", "shout"], { home })).toMatchObject({ code: 0, stdout: "AHOY string\n" });
}, 120_000);

it("a plugin of the package is on, and goes and comes back with all its tools", async () => {
  const home = tempFolder();
  const tools = async () => {
    const rows = await hermesJson<readonly { name: string; enabled: boolean }[]>(["tools", "--all"], {
      home,
    });
    return rows.filter(({ name }) => name.startsWith("rl_")).map(({ enabled }) => enabled);
  };
  expect(new Set(await tools())).toEqual(new Set([true]));
  expect(await hermesJson(["plugins", "disable", "rl"], { home })).toEqual({ name: "rl", enabled: false });
  const [off, rows, called] = await Promise.all([
    tools(),
    hermesJson<readonly { name: string; state: string }[]>(["plugins"], { home }),
    hermes(["call", "rl_list_runs"], { home }),
  ]);
  expect(off).toHaveLength(10);
  expect(new Set(off)).toEqual(new Set([false]));
  expect(rows.find(({ name }) => name === "rl")).toMatchObject({
    state: "disabled",
    fix: "hermes plugins enable rl",
  });
  expect(called.code).not.toBe(0);
  expect(await hermesJson(["plugins", "enable", "rl"], { home })).toEqual({ name: "rl", enabled: true });
  expect(await hermesJson(["plugins", "info", "rl"], { home })).toMatchObject({
    enabled: true,
    place: "bundled",
  });
  expect(await hermes(["call", "rl_list_runs"], { home })).toMatchObject({ code: 0 });
});

describe("what a plugin brings to the command line", () => {
  const home = tempFolder();

  beforeAll(() =>
    enabled(home, "kit", {
      manifest:
        "provides_commands: [weather, forget]\nprovides_environments: [attic]\nprovides_approvers: [pager]\n",
      code: `export default (ctx) => {
  ctx.command("weather", {
    description: "Tells the weather",
    usage: "[city]",
    options: { "--unit <name>": "unit of degrees", "-l, --long": "say more" },
    async run({ words, options, json, print, value, call }) {
      const echo = await call("terminal", { command: "echo sunny" });
      const told = { words, ...options, ok: echo.ok };
      if (json) value(told);
      else print(JSON.stringify(told));
      return words[0] === "Atlantis" ? 3 : 0;
    },
  });
  ctx.command("forget", {
    description: "Forgets a city",
    options: { "--dry-run": "only say which" },
    run: async ({ options, value }) => value(options),
  });
  ctx.environment("attic", async ({ builtin }) => {
    const local = await builtin("local");
    return { ...local, exec: (request) => local.exec({ ...request, env: { ...request.env, ATTIC: "yes" } }) };
  });
  ctx.approver("pager", () => ({ ask: async () => ({ answer: "once", by: "pager" }) }));
};\n`,
    }),
  );

  it("a command of its own, with flags, help and exit code", async () => {
    const [told, help, wrong] = await Promise.all([
      hermes(["--json", "weather", "Atlantis", "--unit", "C", "-l"], { home }),
      hermes(["weather", "--help"], { home }),
      hermes(["weather", "--frobnicate"], { home }),
    ]);
    expect(json(told)).toEqual({ words: ["Atlantis"], unit: "C", long: true, ok: true });
    expect(told.code).toBe(3);
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Tells the weather[\s\S]*--unit <name>/),
    });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("--frobnicate") });
  });

  it("--dry-run goes to a command that has it among its options, and is refused for others", async () => {
    const [known, unknown] = await Promise.all([
      hermes(["--dry-run", "forget", "--json"], { home }),
      hermes(["weather", "--dry-run"], { home }),
    ]);
    expect(json(known)).toEqual({ dryRun: true });
    expect(unknown).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--dry-run") });
  });

  it("an environment for --env; and before it may bring a tool of ours, that is said", async () => {
    mkdirSync(join(home, "plugins", "cover"));
    writeFileSync(join(home, "plugins", "cover", "plugin.yaml"), "name: cover\nprovides_tools: [terminal]\n");
    writeFileSync(join(home, "plugins", "cover", "index.mjs"), "");
    const [covering, done, wrong, listed] = await Promise.all([
      hermes(["plugins", "enable", "cover"], { home }),
      hermes(["--env", "attic", "call", "terminal", "command=echo attic=$ATTIC"], { home }),
      hermes(["--env", "attik", "call", "terminal", "command=true"], { home }),
      hermesJson<{ name: string; ready: boolean }[]>(["env"], { home }),
    ]);
    expect(covering).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("may take the place of built-in tools: terminal"),
    });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("attic=yes") });
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no environment called "attik"[\s\S]*attic/),
    });
    expect(listed).toContainEqual(expect.objectContaining({ name: "attic", ready: true }));
  });

  it("an approver for approvals.approver", async () => {
    appendFileSync(join(home, "config.yaml"), "approvals:\n  approver: pager\n");
    mkdirSync(join(home, "gone"));
    expect(await hermes(["call", "terminal", "command=rm -rf ./gone"], { home })).toMatchObject({ code: 0 });
    expect(existsSync(join(home, "gone"))).toBe(false);
  });
});

describe("docs/plugins.md", () => {
  const home = tempFolder();
  beforeAll(() => {
    const [manifest = ""] = codeBlocks("docs/plugins.md", "yaml");
    const [code = ""] = codeBlocks("docs/plugins.md", "js");
    return enabled(home, "degrees", { manifest: manifest.replace(/^name: .*\n/, ""), code });
  });

  const shown = hermesCommands("docs/plugins.md").filter(({ line }) => !line.startsWith("hermes plugins"));
  it.each(shown)("$line prints what the comment says", async ({ line, comment }) => {
    expect(await typed(line, { home, cwd: home })).toEqual({ code: 0, stdout: `${comment}\n`, stderr: "" });
  });
});

it("errors that nothing catches are told of a plugin; those of the program itself end it as ever", async () => {
  const home = tempFolder();
  await enabled(home, "leaky", {
    code: `export default () => {
  setTimeout(() => { throw new Error("lost timer"); }, 20);
  setTimeout(() => { Promise.reject(new Error("lost promise")); }, 40);
};\n`,
  });
  const program = (name: string, code: string): Promise<Outcome> => {
    const index = pathToFileURL(join(root, "dist", "index.js")).href;
    const file = join(home, `${name}.mjs`);
    const text = `import { createRuntime } from ${JSON.stringify(index)};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const runtime = await createRuntime({ flags: { "log.level": "silent" } });
await pause(100);
${code}
console.log(JSON.stringify(runtime.sources.status()));
await runtime.close();\n`;
    writeFileSync(file, text);
    const options = { env: plainEnvironment(home), stdio: ["ignore", "pipe", "pipe"] } as const;
    return outcomeOf(spawn(process.execPath, [file], { ...options, stdio: [...options.stdio] }));
  };
  const [survived, thrown, rejected] = await Promise.all([
    program("survives", ""),
    // One that only speaks of a plugin's file is not the plugin's.
    program(
      "throws",
      `setTimeout(() => { throw new Error("my own, in ${home}/plugins/leaky/index.mjs"); }, 1); await pause(2_000);`,
    ),
    program("rejects", 'Promise.reject(new Error("my own")); await pause(2_000);'),
  ]);
  expect(survived.code).toBe(0);
  expect(json(survived)).toMatchObject([
    {
      source: "plugin:leaky",
      state: "degraded",
      reason: "an error that nothing caught: Error: lost promise",
    },
  ]);
  for (const ended of [thrown, rejected]) {
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("my own") });
  }
});
