import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { takeSnapshot } from "../../../src/runtime/reload/file-snapshot.js";
import { type WatchOptions, watchForChanges } from "../../../src/runtime/reload/watch-for-changes.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { markConfirmed } from "../../../src/sources/plugins/confirmed-mark.js";
import { textOf } from "../../../src/tool/content.js";
import { type House, house, manifest, statusOf } from "../../sources/plugins/support.js";
import { tempDir } from "../../support/runtime.js";
import { applied, failed, until } from "./support.js";

const says = (text: string) =>
  `export default (ctx) => ctx.tool({ name: "greet", schema: {}, handler: () => ${JSON.stringify(text)} });\n`;
const MANIFEST = manifest("greeter", "provides_tools: [greet]");

async function watched(home: House, options: { readonly dev: boolean } & WatchOptions) {
  const folder = home.plugin("greeter", {
    "plugin.yaml": MANIFEST,
    "index.mjs": says("one"),
    "words.txt": "",
  });
  home.config("plugins:\n  enabled: [greeter]\n");
  await home.confirm("greeter", options);
  const runtime = await home.open();
  const events: Parameters<Parameters<Runtime["events"]["on"]>[0]>[0][] = [];
  runtime.events.on((event) => void events.push(event));
  const watch = await watchForChanges(runtime, { pollMs: 600_000, debounceMs: 15, ...options });
  const session = await runtime.openSession();
  const greet = async () => {
    const result = await session.call({ name: "greet", arguments: {} });
    return result.error?.code ?? textOf(result.content);
  };
  return { folder, runtime, events, watch, greet };
}

it("a plugin that is worked on is taken up; broken it stays as it was and is told with file and line", async () => {
  const made = await watched(house(), { dev: true });
  const { folder, runtime, greet } = made;
  expect(await greet()).toBe("one");
  writeFileSync(join(folder, "index.mjs"), says("two"));
  await until(async () => (await greet()) === "two");
  writeFileSync(join(folder, "index.mjs"), `\n\n${says("three")}throw new Error("no luck");\n`);
  await until(() => failed(made).length > 0);
  expect(await greet()).toBe("two");
  expect(failed(made)).toMatchObject([
    {
      what: "tools",
      files: ["plugin greeter"],
      problems: [expect.stringContaining(`plugin greeter: ${join(folder, "index.mjs")}:4: Error: no luck`)],
    },
  ]);
  writeFileSync(join(folder, "index.mjs"), says("four"));
  await until(async () => (await greet()) === "four");
  await until(() => applied(made).length === 2);
  expect(applied(made).map(({ changes }) => changes)).toEqual([
    ["plugin greeter: 1 changed"],
    ["plugin greeter: 1 changed"],
  ]);
  rmSync(folder, { recursive: true });
  await until(() => runtime.registry.get("greet") === undefined);
});

it("any changed file of a confirmed plugin stops it, and another yes starts it again", async () => {
  const home = house();
  const made = await watched(home, { dev: false });
  const { folder, runtime, greet } = made;
  expect(await greet()).toBe("one");
  writeFileSync(join(folder, "words.txt"), "changed");
  await until(() => statusOf(runtime, "greeter")?.state === "failed");
  expect(await greet()).toBe("unavailable");
  await home.confirm("greeter");
  await markConfirmed(home.home, "greeter");
  await until(async () => (await greet()) === "one");
  expect(statusOf(runtime, "greeter")).toMatchObject({ state: "ready" });
});

it("a change that could not be taken up is taken up by the next look", async () => {
  const home = house();
  const { runtime, watch } = await watched(home, { dev: true, debounceMs: 600_000 });
  const { readConfig } = runtime;
  const broken = Object.assign(runtime, {
    readConfig: async () => {
      Object.assign(broken, { readConfig });
      throw new Error("the disk hiccuped");
    },
  });
  home.config("plugins:\n  enabled: [greeter]\ntools:\n  disabled: [greet]\n");
  await watch.look();
  expect(home.log.map(({ line }) => line).join("\n")).toContain("the disk hiccuped");
  expect(runtime.config.values.tools.disabled).toEqual([]);
  await watch.look();
  expect(runtime.config.values.tools.disabled).toEqual(["greet"]);
});

it("links that lead back are not followed for ever", async () => {
  const folder = tempDir();
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "one.mjs"), "");
  for (let link = 0; link < 6; link += 1) {
    symlinkSync(folder, join(folder, "a", `up${link}`));
    symlinkSync(join(folder, "a"), join(folder, `down${link}`));
  }
  const { files, folders } = await takeSnapshot({ settings: [], files: [], folders: [folder], whole: [] });
  expect([...files.keys()]).toContain(join(folder, "a", "one.mjs"));
  expect([...files.keys()]).toContain(join(folder, "down0", "one.mjs"));
  expect(folders.length).toBeLessThan(500);
});
