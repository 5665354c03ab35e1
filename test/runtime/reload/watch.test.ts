import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { confirmFiles } from "../../../src/config/confirmed-files.js";
import { trustFolder } from "../../../src/config/trust.js";
import { textOf } from "../../../src/index.js";
import { heldFiles } from "../../../src/runtime/reload/held-changes.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { tempDir, testRuntime } from "../../support/runtime.js";
import { applied, failed, toolModule, until, watchedRuntime } from "./support.js";

async function answerOf(runtime: Runtime, name: string): Promise<string> {
  const session = await runtime.openSession({ toolsets: ["all"] });
  const result = await session.call({ name, arguments: {} });
  return textOf(result.content);
}

describe("a tool module that changes while the program runs", () => {
  it("is taken up when it appears, changes and goes, however it is saved", async () => {
    const made = await watchedRuntime();
    const { runtime, home, write, replace } = made;
    write("tools/clock.js", toolModule("clock", 1));
    await until(() => runtime.registry.get("clock") !== undefined);
    expect(await answerOf(runtime, "clock")).toBe("1");

    replace("tools/clock.js", toolModule("clock", 2));
    await until(async () => (await answerOf(runtime, "clock")) === "2");

    rmSync(join(home, "tools/clock.js"));
    writeFileSync(join(home, "tools/clock.js"), toolModule("clock", 3));
    await until(async () => (await answerOf(runtime, "clock")) === "3");

    rmSync(join(home, "tools/clock.js"));
    await until(() => runtime.registry.get("clock") === undefined);
    expect(applied(made).map(({ changes }) => changes)).toEqual([
      ["tools/clock.js: 1 added"],
      ["tools/clock.js: 1 changed"],
      ["tools/clock.js: 1 changed"],
      ["tools/clock.js: 1 removed"],
    ]);
    expect(failed(made)).toEqual([]);
    expect(made.logged.filter((line) => line.includes("reloaded"))).toHaveLength(4);
  });

  it("is loaded anew when a module behind the ones it imports changes, and others are left alone", async () => {
    const behind = (word: string) => `export const word = ${JSON.stringify(word)};\n`;
    const made = await watchedRuntime({
      "tools/greet.ts": `import { registry } from "hermes-tools";
import { greeting } from "./lib/greeting.js";
registry.register({ name: "greet", toolset: "reloaded", schema: {}, handler: () => greeting });
`,
      "tools/other.js": toolModule("other", 1),
      "tools/lib/greeting.ts": `import { word } from "../../shared/word.js";\nexport const greeting = word + "!";\n`,
      "shared/word.js": behind("Hello"),
    });
    const { runtime } = made;
    expect(await answerOf(runtime, "greet")).toBe("Hello!");
    const other = runtime.registry.get("other");
    made.write("shared/word.js", behind("Servus"));
    await until(async () => (await answerOf(runtime, "greet")) === "Servus!");
    expect(runtime.registry.get("other")).toBe(other);
    expect(applied(made)).toMatchObject([
      { files: ["shared/word.js"], changes: ["tools/greet.ts: 1 changed"] },
    ]);
  });

  it("keeps its old tools while it is broken, is reported once, and mended when it is mended", async () => {
    const made = await watchedRuntime({ "tools/clock.ts": toolModule("clock", 1) });
    const { runtime, watch } = made;
    for (const broken of [
      "export const x = ;\n",
      `${toolModule("clock", 2)}\nthrow new Error("no luck");\n`,
      `import { registry } from "hermes-tools";\nregistry.register({ name: "clock" });\n`,
    ]) {
      made.write("tools/clock.ts", broken);
      const before = failed(made).length;
      await until(() => failed(made).length > before);
      expect(await answerOf(runtime, "clock")).toBe("1");
      expect(runtime.sources.status()).toMatchObject([{ state: "degraded", tools: ["clock"] }]);
    }
    expect(failed(made)).toHaveLength(3);
    expect(failed(made).at(1)?.problems.join()).toMatch(/tools\/clock\.ts: line \d+: Error: no luck/);
    expect(runtime.discovery.problems).toHaveLength(1);
    await watch.look();
    expect(failed(made)).toHaveLength(3);

    made.write("tools/clock.ts", toolModule("clock", 4));
    await until(async () => (await answerOf(runtime, "clock")) === "4");
    expect(runtime.sources.status()).toMatchObject([{ state: "ready", tools: ["clock"] }]);
    expect(runtime.discovery.problems).toEqual([]);
  });

  it("that was only touched changes nothing", async () => {
    const made = await watchedRuntime({ "tools/clock.js": toolModule("clock", 1) });
    const { runtime, home, watch } = made;
    const entry = runtime.registry.get("clock");
    utimesSync(join(home, "tools/clock.js"), 1, 1);
    made.replace("tools/clock.js", toolModule("clock", 1));
    await pause(60);
    await watch.look();
    expect(runtime.registry.get("clock")).toBe(entry);
    expect(made.events.filter((event) => event.type.startsWith("reload"))).toEqual([]);
  });

  it("is never taken half: what is written in pieces is read when it is whole", async () => {
    // Long enough for a call on a busy machine to end within it: only then nothing is read between two pieces.
    const made = await watchedRuntime({ "tools/clock.js": toolModule("clock", 1) }, { debounceMs: 400 });
    const { runtime, home } = made;
    const text = toolModule("clock", 2);
    const file = join(home, "tools/clock.js");
    for (let part = 1; part <= 6; part += 1) {
      writeFileSync(file, text.slice(0, (text.length * part) / 6));
      await pause(10);
      expect(await answerOf(runtime, "clock")).toBe("1");
    }
    await until(async () => (await answerOf(runtime, "clock")) === "2");
    expect(failed(made)).toEqual([]);
  });

  it("that is still being written when it is first read is read once more before anybody hears of it", async () => {
    const made = await watchedRuntime({ "tools/clock.js": toolModule("clock", 1) }, { debounceMs: 100 });
    const { runtime, home, watch } = made;
    const file = join(home, "tools/clock.js");
    writeFileSync(file, toolModule("clock", 2).slice(0, -20));
    const looking = watch.look();
    await pause(50);
    writeFileSync(file, toolModule("clock", 2));
    await looking;
    expect(await answerOf(runtime, "clock")).toBe("2");
    expect(failed(made)).toEqual([]);
  });

  it("is found without the system's word, too", async () => {
    const made = await watchedRuntime({ "lib/real.js": toolModule("clock", 1) }, { pollMs: 30 });
    const elsewhere = tempDir();
    writeFileSync(join(elsewhere, "a.js"), toolModule("clock", 1));
    mkdirSync(join(made.home, "tools"));
    symlinkSync(elsewhere, join(made.home, "tools", "linked"));
    renameSync(join(elsewhere, "a.js"), join(elsewhere, "tool.js"));
    await until(() => made.runtime.registry.get("clock") !== undefined);
    writeFileSync(join(elsewhere, "tool.js"), toolModule("clock", 2));
    await until(async () => (await answerOf(made.runtime, "clock")) === "2");
  });

  it("takes a built-in's place and gives it back", async () => {
    const own = (version: number) =>
      toolModule("sleep", version).replace('toolset: "reloaded"', 'toolset: "reloaded", override: true');
    const made = await watchedRuntime({ "tools/sleep.js": own(1) }, { builtins: true });
    const { runtime, home } = made;
    expect(runtime.registry.get("sleep")?.provenance.kind).toBe("home");
    made.write("tools/sleep.js", own(2));
    await until(() => runtime.registry.get("sleep")?.description === "version 2");
    rmSync(join(home, "tools/sleep.js"));
    await until(() => runtime.registry.get("sleep")?.provenance.kind === "builtin");
  });
});

describe("a project's tools", () => {
  it("come when its folder is trusted, and go when it is no longer", async () => {
    const cwd = tempDir();
    mkdirSync(join(cwd, ".hermes", "tools"), { recursive: true });
    writeFileSync(join(cwd, ".hermes", "tools", "own.js"), toolModule("own", 1));
    const made = await watchedRuntime({}, { cwd });
    const { runtime, home } = made;
    expect(runtime.registry.get("own")).toBeUndefined();
    await trustFolder({ home, folder: cwd });
    await until(() => runtime.registry.get("own") !== undefined);
    writeFileSync(join(cwd, ".hermes", "tools", "own.js"), toolModule("own", 2));
    await until(() => runtime.registry.get("own")?.description === "version 2");
    writeFileSync(join(home, "trusted_folders"), "");
    await until(() => runtime.registry.get("own") === undefined);
  });
});

describe("watching", () => {
  it("asked for with the runtime, holds new code until a person says yes, and says so to the command line", async () => {
    const { runtime, home } = await testRuntime([], { userTools: true, watch: true });
    const beside = await testRuntime([], { userTools: true, watch: true, home });
    mkdirSync(join(home, "tools"));
    writeFileSync(join(home, "tools", "clock.js"), toolModule("clock", 1));
    await until(() => runtime.changes?.held.length === 1 && beside.runtime.changes?.held.length === 1);
    expect(runtime.registry.get("clock")).toBeUndefined();
    await beside.runtime.close();
    const waiting = await heldFiles(home);
    expect(waiting.map(({ path }) => path)).toEqual([join(home, "tools", "clock.js")]);
    await confirmFiles(home, new Map(waiting.map(({ path, hash }) => [path, hash])));
    await until(() => runtime.registry.get("clock") !== undefined);
    expect(await heldFiles(home)).toEqual([]);
  });

  it("ends with the runtime, and holds nothing where the program says so", async () => {
    const { runtime, home } = await testRuntime([], { userTools: true, watch: "unheld" });
    mkdirSync(join(home, "tools"));
    writeFileSync(join(home, "tools", "clock.js"), toolModule("clock", 1));
    await until(() => runtime.registry.get("clock") !== undefined);
    await runtime.close();
    writeFileSync(join(home, "tools", "clock.js"), toolModule("clock", 2));
    await pause(250);
    expect(runtime.registry.get("clock")?.description).toBe("version 1");
  });

  it("is off when the configuration says so", async () => {
    const off = await watchedRuntime({ "config.yaml": "reload:\n  enabled: false\n" });
    off.write("tools/clock.js", toolModule("clock", 1));
    await off.watch.look();
    expect(off.runtime.registry.get("clock")).toBeUndefined();
  });
});
