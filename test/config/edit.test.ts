import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import fc from "fast-check";
import { build } from "rolldown";
import { describe, expect, it } from "vitest";
import { upsertDotenv } from "../../src/config/dotenv.js";
import {
  appendConfigValue,
  removeConfigValue,
  setConfigValue,
  unsetConfigValue,
} from "../../src/config/edit.js";
import { getConfigValue } from "../../src/config/get-value.js";
import { sandbox } from "./sandbox.js";

const WITH_COMMENTS = `# Settings of the team
# (do not reorder)

tools:
  timeout_seconds: 120   # slow network

  # noisy ones
  disabled:
    - todo   # nobody uses it
    - 'web_search'

# who decides
approvals: {mode: smart, timeout: 30}
terminal:
`;

describe("config set", () => {
  it("takes only a time zone that there is", async () => {
    using box = sandbox();
    const set = (value: string) => setConfigValue({ home: box.home, key: "cron.timezone", value });
    expect(await set("Mars/Olympus")).toMatchObject({
      ok: false,
      message: expect.stringContaining("Europe/Berlin"),
    });
    expect(await set("Europe/Berlin")).toMatchObject({ ok: true });
    expect(await set("")).toMatchObject({ ok: true });
  });

  it("keeps comments, order, blank lines, quotes and everything else", async () => {
    using box = sandbox();
    const file = box.write("home/config.yaml", WITH_COMMENTS);
    const set = (key: string, value: unknown) => setConfigValue({ home: box.home, key, value });
    expect(await set("tools.timeout_seconds", "90")).toMatchObject({ ok: true, file, changed: true });
    expect(await set("approvals.mode", "manual")).toMatchObject({ ok: true });
    const replaced = WITH_COMMENTS.replace("120", "90").replace("smart", "manual");
    expect(readFileSync(file, "utf8")).toBe(replaced);
    expect(await set("approvals.mode", "manual")).toMatchObject({ ok: true, changed: false });
    expect(await set("terminal.timeout", 20)).toMatchObject({ ok: true });
    // Adding lines may narrow the gap before a comment; nothing else moves.
    expect(readFileSync(file, "utf8")).toBe(
      replaced
        .replaceAll(/ +#/g, (gap) => (gap.length > 3 ? " #" : gap))
        .replace("terminal:\n", "terminal:\n  timeout: 20\n"),
    );
  });

  it("creates the home and a private file when there is none", async () => {
    using box = sandbox();
    const home = join(box.root, "new", "home");
    const result = await setConfigValue({ home, key: "toolsets", value: "web, file" });
    expect(result).toMatchObject({ ok: true });
    const file = join(home, "config.yaml");
    expect(readFileSync(file, "utf8")).toBe("toolsets:\n  - web\n  - file\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(["config.yaml"]);
  });

  it("keeps indentation, Windows line ends, BOM and a link to a dotfiles folder", async () => {
    using box = sandbox();
    const real = box.write("dotfiles/hermes.yaml", "\uFEFFtools:\r\n  disabled:\r\n  - todo\r\n");
    symlinkSync(real, join(box.home, "config.yaml"));
    await setConfigValue({ home: box.home, key: "tools.max_workers", value: "2" });
    const added = "\uFEFFtools:\r\n  disabled:\r\n  - todo\r\n  max_workers: 2\r\n";
    expect(readFileSync(real, "utf8")).toBe(added);
    await setConfigValue({ home: box.home, key: "tools.max_workers", value: "3" });
    expect(readFileSync(real, "utf8")).toBe(added.replace("2", "3"));
  });

  it("refuses unknown keys, wrong values and broken files, and writes nothing", async () => {
    using box = sandbox();
    const file = box.write("home/config.yaml", WITH_COMMENTS);
    const set = (key: string, value: unknown) => setConfigValue({ home: box.home, key, value });
    expect(await set("tools.timeout_secs", "5")).toMatchObject({
      ok: false,
      code: "not_found",
      hint: 'did you mean "tools.timeout_seconds"?',
    });
    expect(await set("HERMES_PORT", "5")).toMatchObject({ ok: false, hint: "the key is called server.port" });
    expect(await set("server.port", "many")).toMatchObject({ ok: false, code: "invalid_arguments" });
    expect(await set("tools.max_workers", "0")).toMatchObject({ ok: false, code: "invalid_arguments" });
    expect(await set("custom_toolsets.mine.tols", "x")).toMatchObject({
      ok: false,
      code: "invalid_arguments",
    });
    expect(await set("tool_budget.overrides.terminal", "big")).toMatchObject({ ok: false });
    expect(await set("tools", "x")).toMatchObject({ ok: false, code: "not_found" });
    expect(readFileSync(file, "utf8")).toBe(WITH_COMMENTS);

    box.write("home/config.yaml", "tools: [\n");
    expect(await set("server.port", "80")).toMatchObject({
      ok: false,
      message: expect.stringContaining(`${file}:2:1`),
    });
    expect(readFileSync(file, "utf8")).toBe("tools: [\n");
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("reaches into maps", async () => {
    using box = sandbox();
    const set = (key: string, value: unknown) => setConfigValue({ home: box.home, key, value });
    await set("tool_settings.web_search.engine", "local");
    await set("tool_settings.web_search.limit", "5");
    await set("tool_budget.overrides.terminal", "9000");
    await set("custom_toolsets.mine", { description: "mine", tools: ["todo"] });
    await set("platform_toolsets.telegram", ["web"]);
    const loaded = await box.load();
    expect(loaded.problems).toEqual([]);
    expect(loaded.values).toMatchObject({
      tool_settings: { web_search: { engine: "local", limit: 5 } },
      tool_budget: { overrides: { terminal: 9000 } },
      custom_toolsets: { mine: { description: "mine", tools: ["todo"], includes: [] } },
      platform_toolsets: { telegram: ["web"] },
    });
    expect(getConfigValue(loaded, "tool_settings.web_search.engine")).toMatchObject({
      value: "local",
      origin: { source: "home", line: 2 },
    });
  });

  it("lists grow and shrink one entry at a time, with the comments between them", async () => {
    using box = sandbox();
    const file = box.write("home/config.yaml", WITH_COMMENTS);
    const change = { home: box.home, key: "tools.disabled" };
    await appendConfigValue({ ...change, items: ["patch", "todo"] });
    expect(readFileSync(file, "utf8")).toContain(
      "- todo # nobody uses it\n    - 'web_search'\n    - patch\n",
    );
    await removeConfigValue({ ...change, items: ["web_search"] });
    expect((await box.load()).values.tools.disabled).toEqual(["todo", "patch"]);
    expect(readFileSync(file, "utf8")).toContain("# nobody uses it");
    expect(await appendConfigValue({ ...change, key: "server.port", items: ["1"] })).toMatchObject({
      ok: false,
    });
    await unsetConfigValue({ home: box.home, key: "tools.disabled" });
    expect((await box.load()).values.tools.disabled).toEqual([]);
  });
});

describe("secrets", () => {
  it("go to a private .env, never to config.yaml, and are masked when shown", async () => {
    using box = sandbox();
    const dotenv = box.write("home/.env", "# keys\nexport A_TOKEN=old # mine\nOTHER='x\ny'\n");
    const set = (key: string, value: unknown) => setConfigValue({ home: box.home, key, value });
    expect(await set("server.token", "s3 #cret")).toMatchObject({ ok: true, file: dotenv });
    expect(await set("A_TOKEN", "new")).toMatchObject({ ok: true });
    expect(readFileSync(dotenv, "utf8")).toBe(
      "# keys\nA_TOKEN=new # mine\nOTHER='x\ny'\nHERMES_TOKEN='s3 #cret'\n",
    );
    expect(statSync(dotenv).mode & 0o777).toBe(0o600);
    expect(existsSync(join(box.home, "config.yaml"))).toBe(false);
    const loaded = await box.load();
    expect(getConfigValue(loaded, "server.token")).toMatchObject({ value: "********", secret: true });
    expect(getConfigValue(loaded, "server")).toMatchObject({ value: { token: "********", port: 9119 } });
    expect(getConfigValue(loaded, "server.token", true)).toMatchObject({ value: "s3 #cret" });
    expect(getConfigValue(loaded, "server.tokn")).toMatchObject({ ok: false });
    expect(getConfigValue(loaded, "tool_settings.constructor")).toMatchObject({
      ok: false,
      code: "not_found",
    });
  });

  it("any value is written so that it reads back exactly, or refused; other lines keep every byte", () => {
    const value = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."a \"'`#$\\\n=") }));
    const before = "# head\nA=1\nexport B='two # x' # c\nC=`three\nlines`\n";
    fc.assert(
      fc.property(value, fc.constantFrom("A", "B", "C", "NEW_KEY"), (secret, name) => {
        const after = upsertDotenv(before, name, secret);
        if (after === undefined) return;
        expect(parseEnv(after)).toEqual({ ...parseEnv(before), [name]: secret });
        expect(after.startsWith("# head\n")).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."aZ9-_ #$=/+.:'") }), (secret) => {
        expect(upsertDotenv(before, "A_KEY", secret)).toBeDefined();
      }),
    );
  });
});

describe("many writers", () => {
  it("in one process: every entry arrives", async () => {
    using box = sandbox();
    const items = Array.from({ length: 25 }, (_, index) => `tool_${index}`);
    const results = await Promise.all(
      items.map((item) => appendConfigValue({ home: box.home, key: "tools.disabled", items: [item] })),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect((await box.load()).values.tools.disabled.toSorted()).toEqual(items.toSorted());
  });

  it("in several processes: every entry arrives, also when one of them is killed on the way", async () => {
    using box = sandbox();
    const repository = join(import.meta.dirname, "..", "..");
    symlinkSync(join(repository, "node_modules"), join(box.root, "node_modules"));
    await build({
      input: join(repository, "src", "config", "edit.ts"),
      external: ["yaml", "write-file-atomic"],
      platform: "node",
      logLevel: "silent",
      output: { dir: join(box.root, "built"), format: "esm", entryFileNames: "edit.mjs" },
    });
    const writer = box.write(
      "built/writer.mjs",
      `import { appendConfigValue } from "./edit.mjs";
       const [home, name, count] = process.argv.slice(2);
       for (let index = 0; index < Number(count); index++) {
         const item = name + "_" + index;
         const result = await appendConfigValue({ home, key: "tools.disabled", items: [item] });
         console.log(result.ok ? item : "FAILED " + JSON.stringify(result));
       }`,
    );
    const start = (name: string, count: number) => {
      const child = spawn(process.execPath, [writer, box.home, name, String(count)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      return { child, acknowledged: () => output.split("\n").filter((line) => line !== "") };
    };
    const writers = ["a", "b", "c"].map((name) => start(name, 10));
    const victims = ["v", "w"].map((name) => start(name, 1000));
    const closed = (child: ChildProcess) => once(child, "close");
    const victimsClosed = Promise.all(victims.map(({ child }) => closed(child)));
    await Promise.all(writers.map(({ child }) => closed(child)));
    for (const { child } of victims) child.kill("SIGKILL");
    await victimsClosed;

    // A lock left by a dead process must not stand in the way.
    const last = await appendConfigValue({ home: box.home, key: "tools.disabled", items: ["last"] });
    expect(last).toMatchObject({ ok: true });
    const { values, problems } = await box.load();
    expect(problems).toEqual([]);
    const acknowledged = [...writers, ...victims].flatMap((each) => each.acknowledged());
    expect(acknowledged.filter((line) => line.startsWith("FAILED"))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(30);
    expect(values.tools.disabled).toEqual(expect.arrayContaining([...acknowledged, "last"]));
  }, 60_000);
});
