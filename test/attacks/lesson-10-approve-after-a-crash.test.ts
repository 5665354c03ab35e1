import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, json, outcomeOf, start, tempFolder, until } from "../cli/hermes.js";

interface Listed {
  readonly id: string;
  readonly hash: string;
  readonly status: string;
  readonly what: string;
  readonly owner_alive: boolean;
  readonly expires_at: number;
}

const SETTINGS = "approvals:\n  unattended_mode: queue\n";

function homeWithFolder(settings = SETTINGS): { readonly home: string; readonly folder: string } {
  const home = tempFolder();
  const folder = join(home, "precious");
  mkdirSync(folder);
  writeFileSync(join(home, "config.yaml"), settings);
  return { home, folder };
}

const list = (home: string, ...flags: string[]) =>
  hermesJson<readonly Listed[]>(["approvals", "list", ...flags], { home });

/** A process without a terminal that asks, and its question. */
async function asking(home: string) {
  const child = start(["call", "terminal", "command=rm -rf precious", "--json"], { home });
  child.stdin?.end();
  const done = outcomeOf(child);
  let question: Listed | undefined;
  await until(async () => {
    [question] = await list(home);
    return question !== undefined;
  }, "the question");
  if (question === undefined) throw new Error("no question");
  return { child, done, question };
}

/** The same, killed while it waits. */
async function orphaned(home: string): Promise<Listed> {
  const { child, done, question } = await asking(home);
  child.kill("SIGKILL");
  await done;
  return question;
}

describe("lesson 10: list pending, approve, resume in a new process", { timeout: 60_000 }, () => {
  it("another process's yes lets the waiting call run, and a second yes does nothing", async () => {
    const { home, folder } = homeWithFolder();
    const { done, question } = await asking(home);
    expect(question).toMatchObject({ status: "pending", what: "rm -rf precious", owner_alive: true });
    const approved = await hermes(["approvals", "approve", question.id, "--json"], { home });
    expect(json(approved)).toMatchObject({ id: question.id, status: "consumed", answer: "once" });
    const called = await done;
    expect(called.code).toBe(0);
    expect(json(called)).toMatchObject({ ok: true, decision: { answer: "once", by: /^cli:/ } });
    expect(existsSync(folder)).toBe(false);
    const again = await hermes(["approvals", "approve", question.id, "--json"], { home });
    expect(again.code).toBe(5);
    expect(errorLine(again).message).toContain("already been approved and used");
  });

  it("another process's no ends the waiting call with the reason", async () => {
    const { home, folder } = homeWithFolder();
    const { done, question } = await asking(home);
    expect((await hermes(["approvals", "deny", question.id, "keep", "it"], { home })).code).toBe(0);
    const called = await done;
    expect(called.code).toBe(5);
    expect(called.stdout).toContain("keep it");
    expect(existsSync(folder)).toBe(true);
    expect(await list(home)).toEqual([]);
    expect(await list(home, "--all")).toMatchObject([{ id: question.id, status: "denied" }]);
  });

  it("a question survives kill -9; approved and resumed elsewhere it runs exactly once", async () => {
    const { home, folder } = homeWithFolder();
    const question = await orphaned(home);
    expect(await list(home)).toMatchObject([{ id: question.id, status: "pending", owner_alive: false }]);

    const early = await hermes(["approvals", "resume", question.id, "--json"], { home });
    expect(early.code).toBe(5);
    expect(errorLine(early).message).toContain("has not been approved");

    const approved = await hermes(["approvals", "approve", question.id], { home });
    expect(approved.code).toBe(0);
    expect(approved.stderr).toContain(`hermes approvals resume ${question.id}`);
    expect(existsSync(folder)).toBe(true);

    const resumed = await Promise.all([
      hermes(["approvals", "resume", question.id, "--json"], { home }),
      hermes(["approvals", "resume", question.id, "--json"], { home }),
    ]);
    expect(resumed.map(({ code }) => code).sort()).toEqual([0, 5]);
    const ran = resumed.find(({ code }) => code === 0);
    expect(json(ran ?? resumed[0])).toMatchObject({ ok: true, decision: { verdict: "ask", answer: "once" } });
    expect(existsSync(folder)).toBe(false);

    mkdirSync(folder);
    expect((await hermes(["approvals", "resume", question.id], { home })).code).toBe(5);
    expect((await hermes(["approvals", "approve", question.id, "--resume"], { home })).code).toBe(5);
    expect(existsSync(folder)).toBe(true);
    expect(await list(home, "--all")).toMatchObject([{ id: question.id, status: "consumed" }]);
  });

  it("approve --resume does both at once", async () => {
    const { home, folder } = homeWithFolder();
    const question = await orphaned(home);
    const done = await hermes(["approvals", "approve", question.id, "--resume", "--json"], { home });
    expect(done.code).toBe(0);
    expect(json(done)).toMatchObject({ ok: true, name: "terminal" });
    expect(existsSync(folder)).toBe(false);
  });

  it("what the rules deny by now stays denied, and the approval is not used up", async () => {
    const { home, folder } = homeWithFolder();
    const question = await orphaned(home);
    await hermes(["approvals", "approve", question.id], { home });
    writeFileSync(join(home, "config.yaml"), `${SETTINGS}  deny:\n    - "rm -rf *"\n`);
    const refused = await hermes(["approvals", "resume", question.id, "--json"], { home });
    expect(refused.code).toBe(5);
    expect(errorLine(refused).message).toContain("approvals.deny");
    expect(existsSync(folder)).toBe(true);
    expect(await list(home)).toMatchObject([{ id: question.id, status: "approved" }]);
  });

  it("after its time a question cannot be approved, resumed or run", async () => {
    const { home, folder } = homeWithFolder(`${SETTINGS}  timeout: 10\n`);
    const question = await orphaned(home);
    const late = await orphaned(home);
    expect((await hermes(["approvals", "approve", late.id], { home })).code).toBe(0);
    await pause(Math.max(question.expires_at, late.expires_at) + 100 - Date.now());
    for (const words of [
      ["approve", question.id],
      ["approve", question.id, "--resume"],
      ["resume", late.id],
    ]) {
      const refused = await hermes(["approvals", ...words, "--json"], { home });
      expect(refused.code).toBe(5);
      expect(errorLine(refused).message).toContain("expired");
    }
    expect(await list(home)).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });

  it("an answer for another hash, an unknown id and contradictory options are refused", async () => {
    const { home, folder } = homeWithFolder();
    const question = await orphaned(home);
    const codes = [];
    for (const words of [
      ["approve", question.id, "--hash", "0".repeat(64)],
      ["approve", "apr_nobody"],
      ["deny", "apr_nobody"],
      ["resume", "apr_nobody"],
      ["approve", question.id, "--session", "--always"],
      ["approve", question.id, "--widen"],
    ])
      codes.push((await hermes(["approvals", ...words], { home })).code);
    expect(codes).toEqual([5, 2, 2, 2, 2, 2]);
    expect(await list(home)).toMatchObject([{ id: question.id, status: "pending" }]);
    expect(existsSync(folder)).toBe(true);
  });

  it("a model cannot answer its own question by typing the answer into its terminal", async () => {
    const { home, folder } = homeWithFolder();
    const question = await orphaned(home);
    for (const words of [
      ["approve", question.id, "--resume"],
      ["resume", question.id],
    ]) {
      const tried = await hermes(["approvals", ...words, "--json"], { home, env: { AI_AGENT: "hermes" } });
      expect(tried.code).toBe(5);
      expect(errorLine(tried).message).toContain("given by a person");
    }
    expect(await list(home)).toMatchObject([{ id: question.id, status: "pending" }]);
    expect(existsSync(folder)).toBe(true);
  });
});
