import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askingRuntime, until } from "../approvals/support.js";
import { errorLine, hermes, hermesJson, tempFolder } from "../cli/hermes.js";

describe("lesson 8: no answer is a no, and no question gets lost", () => {
  it("without a terminal a command that needs approval is denied at once, and nothing is left waiting", async () => {
    const home = tempFolder();
    const folder = join(home, "precious");
    mkdirSync(folder);
    const denied = await hermes(["call", "terminal", "command=rm -rf precious", "--json"], { home });
    expect(denied.code).toBe(5);
    expect(errorLine(denied).message).toContain("nobody can be asked here");
    expect(await hermesJson(["approvals", "list", "--all"], { home })).toEqual([]);
    const request = JSON.stringify({
      tool_calls: [{ id: "1", function: { name: "terminal", arguments: { command: "rm -rf precious" } } }],
    });
    const batch = await hermes(["run"], { home, stdin: request });
    expect(batch.stdout).toContain("nobody can be asked here");
    expect(existsSync(folder)).toBe(true);
  });

  it("in the queue, silence is a denial within the time that was set", async () => {
    const home = tempFolder();
    const folder = join(home, "precious");
    mkdirSync(folder);
    writeFileSync(join(home, "config.yaml"), "approvals:\n  unattended_mode: queue\n  timeout: 1\n");
    const silent = await hermes(["call", "terminal", "command=rm -rf precious", "--json"], { home });
    expect(silent.code).toBe(5);
    expect(errorLine(silent)).toMatchObject({ code: "timed_out_waiting" });
    expect(existsSync(folder)).toBe(true);
    expect(await hermesJson(["approvals", "list", "--all"], { home })).toMatchObject([{ status: "expired" }]);
  });

  it("100 waiting questions are all listed, each with its own id, and each can still be answered", async () => {
    const { runtime, approvals, ran } = await askingRuntime();
    const session = await runtime.openSession({ approver: approvals.queue() });
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`);
    const results = texts.map((text) => session.call({ name: "risky", arguments: { text } }));
    const store = await approvals.store();
    await until(() => store.list().length === 100, "100 questions");
    const records = store.list();
    expect(new Set(records.map(({ id }) => id)).size).toBe(100);
    for (const { id, hash, shown } of records) {
      const answer = shown.what.endsWith("7") ? "once" : "deny";
      await store.answer({ id, hash, answer, by: "cli" });
    }
    await Promise.all(results);
    expect(ran.toSorted()).toEqual(texts.filter((text) => text.endsWith("7")).toSorted());
  });
});
