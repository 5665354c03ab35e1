import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { confirmedFile } from "../../../src/config/confirmed-files.js";
import { setConfigValue } from "../../../src/config/edit.js";
import { createServer } from "../../../src/server/server.js";
import { onTestEnd } from "../../support/runtime.js";
import { toolModule, until, watchedRuntime } from "./support.js";

const held = (made: Awaited<ReturnType<typeof watchedRuntime>>) =>
  (made.runtime.changes?.held ?? []).map(({ path }) => path.slice(made.runtime.config.paths.home.length + 1));

const accept = async (made: Awaited<ReturnType<typeof watchedRuntime>>) =>
  made.watch.accept(made.runtime.changes?.held ?? []);

describe("while a server runs", () => {
  it("code of tools that is new or changed waits for a yes; a tool that goes is gone at once", async () => {
    const made = await watchedRuntime(
      { "tools/a.js": toolModule("a", 1), "tools/b.js": toolModule("b", 1) },
      { hold: "everything" },
    );
    made.replace("tools/a.js", toolModule("a", 2));
    made.replace("tools/evil.js", toolModule("evil", 1));
    rmSync(join(made.runtime.config.paths.tools, "b.js"));
    await made.watch.look();
    expect(held(made).sort()).toEqual(["tools/a.js", "tools/evil.js"]);
    expect(made.runtime.registry.get("evil")).toBeUndefined();
    expect(made.runtime.registry.get("a")?.description).toBe("version 1");
    expect(made.runtime.registry.get("b")).toBeUndefined();
    expect(made.events.some((event) => event.type === "reload.held")).toBe(true);

    await accept(made);
    expect(held(made)).toEqual([]);
    expect(made.runtime.registry.get("evil")).toBeDefined();
    expect(made.runtime.registry.get("a")?.description).toBe("version 2");
  });

  it("also YAML tools, and what a module imports", async () => {
    const yaml = (name: string) =>
      `tools:\n  - name: ${name}\n    type: command\n    description: says ok\n    command: [echo, ok]\n`;
    const made = await watchedRuntime(
      {
        "tools/lib/words.js": "export const word = 'old';",
        "tools/a.js": toolModule("a", 1, 'import "./lib/words.js";'),
      },
      { hold: "everything" },
    );
    const before = made.runtime.registry.get("a");
    made.write("tools/x.yaml", yaml("from_yaml"));
    made.write("tools/lib/words.js", "globalThis.hermesLoaded = true; export const word = 'new';");
    await made.watch.look();
    expect(made.runtime.registry.get("from_yaml")).toBeUndefined();
    expect(made.runtime.registry.get("a")).toBe(before);
    expect(Reflect.get(globalThis, "hermesLoaded")).toBeUndefined();
    await accept(made);
    expect(made.runtime.registry.get("from_yaml")).toBeDefined();
  });

  it("settings that loosen wait, what is stricter in the same file counts at once", async () => {
    const made = await watchedRuntime(
      { "config.yaml": "approvals:\n  mode: manual\n  deny: ['git push*']\n" },
      { hold: "everything" },
    );
    made.write("config.yaml", "approvals:\n  mode: 'off'\n  deny: ['npm publish*']\n");
    await made.watch.look();
    const { approvals } = made.runtime.config.values;
    expect(approvals.mode).toBe("manual");
    expect([...approvals.deny].sort()).toEqual(["git push*", "npm publish*"]);
    const session = await made.runtime.openSession();
    const asked = await session.explainCall({ name: "terminal", arguments: { command: "rm -rf build" } });
    expect(JSON.stringify(asked)).not.toContain('"verdict":"allow"');
    await accept(made);
    expect(made.runtime.config.values.approvals.mode).toBe("off");
    expect(made.runtime.config.values.approvals.deny).toEqual(["npm publish*"]);
  });

  it("one file that waits is not let in by another that does not", async () => {
    const made = await watchedRuntime(
      { "config.yaml": "approvals:\n  mode: manual\n" },
      { hold: "everything" },
    );
    rmSync(made.runtime.config.paths.cache, { recursive: true, force: true });
    made.write("config.yaml", "approvals:\n  mode: 'off'\n");
    await made.watch.look();
    expect(held(made)).toEqual(["config.yaml"]);
    made.write(".env", "SOME_KEY=0123456789abcdef\n");
    await made.watch.look();
    expect(made.runtime.config.values.approvals.mode).toBe("manual");
    expect(held(made)).toEqual(["config.yaml"]);
  });

  it("secrets in .env count at once, settings in it only when they are stricter", async () => {
    const made = await watchedRuntime({ ".env": "HERMES_APPROVALS_MODE=smart\n" }, { hold: "everything" });
    const mode = () => made.runtime.config.values.approvals.mode;
    made.write(".env", "HERMES_APPROVALS_MODE=off\nSOME_KEY=0123456789abcdef\n");
    await made.watch.look();
    expect(mode()).toBe("smart");
    expect(made.runtime.redact("0123456789abcdef")).not.toContain("0123456789abcdef");
    made.write(".env", "HERMES_APPROVALS_MODE=manual\n");
    await made.watch.look();
    expect(mode()).toBe("manual");
  });

  it("what a person's own command writes needs no second yes; a forged mark is none", async () => {
    const made = await watchedRuntime(
      { "config.yaml": "approvals:\n  mode: manual\n" },
      { hold: "everything" },
    );
    const { home } = made.runtime.config.paths;
    await setConfigValue({ home, key: "approvals.mode", value: "off" });
    await made.watch.look();
    expect(made.runtime.config.values.approvals.mode).toBe("off");

    const mark = readFileSync(confirmedFile(home), "utf8");
    made.write("tools/evil.js", toolModule("evil", 1));
    await made.watch.look();
    const [waiting] = made.runtime.changes?.held ?? [];
    const forged = JSON.parse(mark) as { files: Record<string, string> };
    forged.files[waiting?.path ?? ""] = waiting?.hash ?? "";
    writeFileSync(confirmedFile(home), JSON.stringify(forged));
    await made.watch.look();
    expect(made.runtime.registry.get("evil")).toBeUndefined();
  });

  it("the yes counts for what was shown, not for what came after", async () => {
    const made = await watchedRuntime({ "tools/a.js": toolModule("a", 1) }, { hold: "everything" });
    made.write("tools/a.js", toolModule("a", 2));
    await made.watch.look();
    const shown = made.runtime.changes?.held ?? [];
    made.write("tools/a.js", toolModule("a", 3));
    await made.watch.accept(shown);
    expect(made.runtime.registry.get("a")?.description).toBe("version 1");
    expect(held(made)).toEqual(["tools/a.js"]);
  });

  it("an author's tools are loaded by themselves, their settings are not", async () => {
    const made = await watchedRuntime({ "tools/a.js": toolModule("a", 1) }, { hold: "settings" });
    made.replace("tools/a.js", toolModule("a", 2));
    made.write("config.yaml", "approvals:\n  mode: 'off'\n");
    await made.watch.look();
    expect(made.runtime.registry.get("a")?.description).toBe("version 2");
    expect(made.runtime.config.values.approvals.mode).not.toBe("off");
  });

  it("the page's requests list and accept; the token for calls does not", async () => {
    const made = await watchedRuntime(
      { "config.yaml": "server:\n  call_token: calls-token-0123456789-abcdefghijkl\n" },
      { hold: "everything" },
    );
    const [token, callToken] = ["owner-token-0123456789-abcdefghijkl", "calls-token-0123456789-abcdefghijkl"];
    const server = await createServer({
      runtime: made.runtime,
      token: { value: token, source: "configured" },
      host: "127.0.0.1",
      port: 0,
    });
    onTestEnd(() => server.close({ finishMs: 0, abortMs: 1_000 }));
    const ask = (bearer: string, init: RequestInit = {}) =>
      fetch(new URL("/v1/changes", server.url), { ...init, headers: { authorization: `Bearer ${bearer}` } });
    made.write("tools/evil.js", toolModule("evil", 1));
    await made.watch.look();
    const body = await (await ask(callToken)).text();
    expect(body).toContain("evil.js");
    expect((await ask(callToken, { method: "POST", body })).status).toBe(403);
    expect(made.runtime.registry.get("evil")).toBeUndefined();
    expect((await ask(token, { method: "POST", body })).status).toBe(200);
    await until(() => made.runtime.registry.get("evil") !== undefined);
  });
});
