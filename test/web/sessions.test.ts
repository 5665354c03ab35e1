// @needs chromium
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { PAYLOADS } from "../server/xss-payloads.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { openWithModel, say } from "./recorded.js";

const OLD = 'import merge from "lodash/merge";\n\nexport { merge };\n';

describe("Sessions", { timeout: 120_000 }, () => {
  it("a conversation is found by a word, its file changes are shown and taken back", async () => {
    const made = await openWithModel();
    const { tab, show, cwd, problems } = made;
    await show("/sessions");
    expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
    mkdirSync(join(cwd, "src"), { recursive: true });
    writeFileSync(join(cwd, "src/merge.ts"), OLD);
    const id = await say(made, "Merging settings got slow. Fix it.");
    await say(made, "What is in this folder?");
    const file = join(cwd, "src/merge.ts");
    expect(readFileSync(file, "utf8")).not.toBe(OLD);

    await show("/sessions");
    await until(async () => (await tab.locator(".virtual > .lrow").count()) === 2);
    await tab.keyboard.press("/");
    await tab.keyboard.type("lodash came");
    await until(async () => (await tab.locator(".virtual > .lrow").count()) === 1);
    expect(await tab.locator(".lrow mark").first().textContent()).toMatch(/lodash/i);
    await tab.locator(".virtual > .lrow").click();
    await until(() => new URL(tab.url()).pathname === `/sessions/${id}`);
    const thread = tab.getByRole("list", { name: "Messages" });
    await thread.waitFor();
    expect(await thread.textContent()).toContain("Merging settings got slow");
    await thread.locator(".tcall", { hasText: "missing.md" }).locator("summary").click();
    expect(await thread.locator(".tcall[open]").textContent()).toContain("missing.md");
    await expectGoodLooks(tab);

    await tab.getByRole("tab", { name: /File changes/ }).click();
    const change = tab.getByRole("region", { name: /merge\.ts/ });
    await change.waitFor();
    expect(await change.locator(".ln.del").first().textContent()).toContain("lodash/merge");
    await expectGoodLooks(tab);
    await tab.getByRole("button", { name: "Undo 1 change" }).click();
    await tab.getByText("1 change taken back").waitFor();
    expect(readFileSync(file, "utf8")).toBe(OLD);
    await until(async () => (await change.textContent())?.includes("undone") === true);
    expect(problems).toEqual([]);
  });

  it("a conversation is replayed: what today's rules make of its calls, without running them", async () => {
    const made = await openWithModel();
    const { tab, show, cwd, problems } = made;
    const id = await say(made, "Merging settings got slow. Fix it.");
    rmSync(join(cwd, "src"), { recursive: true });
    await show(`/sessions/${id}`);
    // The palette finds it by a word of its title.
    await show("/live");
    await tab.keyboard.press("Control+k");
    const found = tab.getByRole("group", { name: "Conversations" }).getByRole("option").first();
    await tab.getByRole("combobox").fill("merg");
    await found.click();
    await until(() => new URL(tab.url()).pathname === `/sessions/${id}`);
    await tab.getByRole("tab", { name: "Replay" }).click();
    const replay = tab.getByRole("region", { name: "Replay" });
    await replay.getByText("2 calls would end as they did").waitFor();
    expect(existsSync(join(cwd, "src"))).toBe(false);
    await expectGoodLooks(tab);
    expect(problems).toEqual([]);
  });

  it("a conversation leaves as a file and is deleted after a second look", async () => {
    const made = await openWithModel();
    const { tab, show } = made;
    const id = await say(made, "What is in this folder?");
    await show(`/sessions/${id}`);
    const waiting = tab.waitForEvent("download");
    await tab.getByRole("link", { name: "Markdown" }).click();
    const saved = await (await waiting).path();
    expect(existsSync(saved)).toBe(true);
    expect(readFileSync(saved, "utf8")).toContain("What is in this folder?");
    await tab.getByRole("button", { name: "Delete" }).click();
    await tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await until(async () => (await tab.locator("main").getAttribute("data-state")) === "empty");
    await show(`/sessions/${id}`);
    await tab.getByText("There is no such conversation").waitFor();
  });

  it("texts that look like markup stay texts", async () => {
    const made = await openWithModel([{ text: PAYLOADS.join("\n"), repeat: "always" }]);
    const { tab, show } = made;
    const id = await say(made, `Look: ${PAYLOADS[2]}`);
    await show(`/sessions/${id}?q=attacked`);
    await tab.getByRole("list", { name: "Messages" }).waitFor();
    expect(await tab.locator("main").textContent()).toContain("onerror=");
    await expectUnharmed(tab);
  });
});
