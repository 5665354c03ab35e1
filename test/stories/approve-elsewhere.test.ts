import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { hermes, linesOf, outcomeOf, start, tempFolder } from "../cli/hermes.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

interface Question {
  readonly id: string;
  readonly hash?: string;
}

const REMOVES: Step = { calls: [{ name: "terminal", arguments: { command: "rm -rf build" } }] };

async function asking(steps: readonly Step[], timeoutSeconds: number) {
  const server = await startScriptedModel({ steps });
  onTestFinished(() => server.close());
  const [home, cwd] = [tempFolder(), tempFolder()];
  mkdirSync(join(cwd, "build"));
  const env = {
    HERMES_MODEL_PROVIDER: "openai",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: server.url,
    HERMES_MODEL_API_KEY: "test-key",
    HERMES_APPROVALS_UNATTENDED_MODE: "queue",
    HERMES_APPROVALS_TIMEOUT: String(timeoutSeconds),
  };
  const child = start(["chat", "-q", "clean up", "--jsonl"], { home, cwd, env });
  child.stdin?.end();
  const over = outcomeOf(child).then(({ stdout }) =>
    linesOf(stdout).map((line) => JSON.parse(line) as AgentEvent),
  );
  const elsewhere = (...words: readonly string[]) => hermes(["approvals", ...words], { home, cwd, env });
  /** The question that waits, other than those that are known. */
  const question = async (known: readonly string[] = []): Promise<Question> => {
    for (;;) {
      const waiting = JSON.parse((await elsewhere("list", "--json")).stdout) as readonly Question[];
      const found = waiting.find(({ id }) => !known.includes(id));
      if (found !== undefined) return found;
    }
  };
  return { over, elsewhere, question, cwd };
}

describe("lesson 125: approved from elsewhere instead of not asked at all", () => {
  it("an answer is for one call: it cannot be used again, nor be given to another question", async () => {
    const { over, elsewhere, question, cwd } = await asking([REMOVES, REMOVES, { text: "Once." }], 120);
    const first = await question();
    expect((await elsewhere("approve", first.id, "--hash", "0".repeat(64))).code).not.toBe(0);
    expect(existsSync(join(cwd, "build"))).toBe(true);
    expect((await elsewhere("approve", first.id)).code).toBe(0);
    // The very same call asks anew, and the answer that was given is used up.
    const second = await question([first.id]);
    expect((await elsewhere("approve", first.id)).code).not.toBe(0);
    expect((await elsewhere("deny", second.id, "once is enough")).code).toBe(0);
    const events = await over;
    expect(events.at(-1)).toMatchObject({ type: "result", text: "Once." });
    expect(events.filter(({ type }) => type === "tool_result")).toMatchObject([{ ok: true }, { ok: false }]);
    expect(JSON.stringify(events)).toContain("once is enough");
    expect(existsSync(join(cwd, "build"))).toBe(false);
  });

  it("silence is a no", async () => {
    const { over, elsewhere, cwd } = await asking([REMOVES, { text: "Nobody answered." }], 1);
    const events = await over;
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ ok: false });
    expect(existsSync(join(cwd, "build"))).toBe(true);
    expect(JSON.parse((await elsewhere("list", "--json")).stdout)).toEqual([]);
  });
});
