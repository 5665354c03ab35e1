import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { watchForChanges } from "../../../src/runtime/reload/watch-for-changes.js";
import type {
  ExplainAnswer,
  PermissionsAnswer,
  ProposalAnswer,
  Setting,
  SettingChanged,
  SettingsAnswer,
  SimulateAnswer,
} from "../../../src/server/dashboard-types.js";
import { tempDir } from "../../support/runtime.js";
import { startServer } from "../support.js";
import { echo } from "../tools.js";
import { jsonOf, openBrowser } from "./support.js";

function homeWith(config: string): string {
  const home = tempDir();
  writeFileSync(join(home, "config.yaml"), config);
  return home;
}

const named = (settings: SettingsAnswer, key: string): Setting => {
  const found = settings.find((setting) => setting.key === key);
  if (found === undefined) throw new Error(`no setting ${key}`);
  return found;
};

describe("settings", () => {
  it("are told with value, default, origin, meaning and schema; secrets never", async () => {
    const home = homeWith(
      "approvals:\n  mode: smart\nmcp_servers:\n  github:\n    enabled: false\n    url: https://mcp.invalid/x\n    headers:\n      Authorization: Bearer abc-very-secret\n      X-From: ${GITHUB_TOKEN}\n",
    );
    const { ask } = await startServer([echo], {
      runtime: {
        home,
        env: { PATH: process.env.PATH, HOME: home, HERMES_MODEL_API_KEY: "sk-model-secret-1234" },
      },
    });
    const answer = await ask("/v1/settings");
    const text = await answer.text();
    expect(text).not.toContain("abc-very-secret");
    expect(text).not.toContain("sk-model-secret-1234");
    const settings = JSON.parse(text) as SettingsAnswer;
    expect(settings.length).toBeGreaterThan(100);
    expect(named(settings, "approvals.mode")).toMatchObject({
      value: "smart",
      default: "manual",
      origin: { source: "home", line: 2 },
      schema: { type: "string", enum: ["manual", "smart", "off"] },
    });
    expect(named(settings, "model.api_key")).toMatchObject({ value: null, secret: true, set: true });
    expect(named(settings, "server.token")).toMatchObject({ value: null, secret: true });
    expect(JSON.stringify(named(settings, "mcp_servers").value)).toContain("GITHUB_TOKEN");
  });

  it("are changed in the person's file with its comments, and count at once", async () => {
    const home = homeWith("# mine\nfile_read_max_chars: 500 # few\n");
    const started = await startServer([echo], { runtime: { home } });
    const browser = await openBrowser(started);
    const change = await jsonOf<SettingChanged>(
      browser.post("/v1/settings", { key: "file_read_max_chars", value: 700 }),
    );
    expect(change).toMatchObject({ changed: true, setting: { value: 700 } });
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("# mine\nfile_read_max_chars: 700 # few\n");
    expect(started.runtime.config.values.file_read_max_chars).toBe(700);
    const wrong = await browser.post("/v1/settings", { key: "file_read_max_chars", value: "many" });
    expect(wrong.status).toBe(400);
    expect((await browser.post("/v1/settings", { key: "nobody.knows", value: 1 })).status).toBe(404);
    expect((await browser.post("/v1/settings", { key: "OPENAI_API_KEY", value: "x" })).status).toBe(404);
    const masked = { key: "mcp_servers", value: { a: { url: "x", headers: { A: "********" } } } };
    expect((await browser.post("/v1/settings", masked)).status).toBe(400);
  });

  it("a change by somebody else that waits for a yes is not said yes to by another change", async () => {
    const home = homeWith("approvals:\n  mode: manual\n");
    const started = await startServer([echo], { runtime: { home } });
    const { runtime } = started;
    const watch = await watchForChanges(runtime, { hold: "everything", debounceMs: 5 });
    const browser = await openBrowser(started);
    const loosened = await jsonOf<SettingChanged>(
      browser.post("/v1/settings", { key: "approvals.mode", value: "smart" }),
    );
    expect([loosened.setting.value, runtime.config.values.approvals.mode]).toEqual(["smart", "smart"]);
    writeFileSync(join(home, "config.yaml"), "approvals:\n  mode: off\n");
    const answer = await browser.post("/v1/settings", { key: "file_read_max_chars", value: 700 });
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining("waits for a yes")]);
    expect((await browser.post("/v1/tools/echo", { enabled: false })).status).toBe(409);
    expect(runtime.config.values.approvals.mode).toBe("smart");
    await watch.close();
  });
});

describe("permissions", () => {
  it("are told with their profiles and the rules in force", async () => {
    const home = tempDir();
    writeFileSync(
      join(home, "hermes_permissions.yaml"),
      "profiles:\n  quiet:\n    description: Only looks\n    allow: ['file:read']\n    deny: ['network:*']\n",
    );
    const { ask } = await startServer([echo], {
      runtime: { home, flags: { "permissions.profile": "quiet" } },
    });
    const answer = await jsonOf<PermissionsAnswer>(ask("/v1/permissions"));
    expect(answer.current).toBe("quiet");
    expect(answer.profiles.find(({ active }) => active)).toMatchObject({
      name: "quiet",
      deny: ["network:*"],
    });
    expect(answer.rules).toContainEqual(
      expect.objectContaining({ level: "profile:quiet", list: "deny", text: "network:*", line: 5 }),
    );
  });

  it("explain a call, simulate another profile, and propose one that is accepted", async () => {
    const home = tempDir();
    const started = await startServer([], { runtime: { home, journal: true, builtins: true } });
    mkdirSync(join(started.cwd, "docs"));
    writeFileSync(join(started.cwd, "docs", "note.txt"), "fox\n");
    await started.calls({
      tool_calls: [{ id: "r", function: { name: "read_file", arguments: { path: "docs/note.txt" } } }],
    });
    const browser = await openBrowser(started);
    const explained = await jsonOf<ExplainAnswer>(
      browser.post("/v1/permissions/explain", { tool: "terminal", arguments: { command: "rm -rf build" } }),
    );
    expect(explained.verdict).toBe("ask");
    expect(explained.trace.length).toBeGreaterThan(0);
    expect((await browser.post("/v1/permissions/explain", { tool: "nobody" })).status).toBe(404);
    expect(
      (await browser.post("/v1/permissions/explain", { tool: "terminal", profile: "nobody" })).status,
    ).toBe(404);
    const simulated = await jsonOf<SimulateAnswer>(
      browser.post("/v1/permissions/simulate", { profile: "readonly_research", days: 1 }),
    );
    expect(simulated).toMatchObject({ days: 1, calls: 1 });
    expect((await browser.post("/v1/permissions/simulate", { profile: "nobody" })).status).toBe(404);
    const proposal = await jsonOf<ProposalAnswer>(
      browser.post("/v1/permissions/propose", { name: "seen", days: 1 }),
    );
    expect(proposal).toMatchObject({ name: "seen", calls: 1, covered: 1 });
    const { name, yaml } = proposal;
    expect(await jsonOf(browser.post("/v1/permissions/accept", { name, yaml }))).toMatchObject({
      changed: true,
    });
    const { profiles } = await jsonOf<PermissionsAnswer>(browser.ask("/v1/permissions"));
    expect(profiles.map((each) => each.name)).toContain("seen");
    const bad = await browser.post("/v1/permissions/accept", { name, yaml: "global:\n  allow: ['*']\n" });
    expect(bad.status).toBe(400);
  });
});
