import { describe, it, onTestFinished } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { hermes, linesOf, outcomeOf, start, tempFolder } from "../cli/hermes.js";
import { checkStory, FORMATS, scene } from "./play.js";
import { STORIES } from "./stories.js";

describe.each(FORMATS)("hermes chat -q, told in the format of %s", (provider) => {
  it.each(Object.entries(STORIES))("%s", async (_, story) => {
    const { server, cwd, home } = await scene(story, tempFolder());
    onTestFinished(() => server.close());
    const env = {
      HERMES_MODEL_PROVIDER: provider,
      HERMES_MODEL: "scripted",
      HERMES_MODEL_BASE_URL: server.url,
      HERMES_MODEL_API_KEY: "test-key",
      HERMES_MODEL_CONTEXT_TOKENS: "200000",
      HERMES_APPROVALS_UNATTENDED_MODE: "queue",
    };
    const limit = story.maxTurns === undefined ? [] : ["--max-turns", String(story.maxTurns)];
    const child = start(["chat", "-q", story.say, "--jsonl", ...limit], { home, cwd, env });
    const answers = [...(story.answers ?? [])];
    const answering: Promise<void>[] = [];
    let line = "";
    child.stdout?.on("data", (chunk: Buffer | string) => {
      const lines = (line + String(chunk)).split("\n");
      line = lines.pop() ?? "";
      for (const whole of lines)
        if ((JSON.parse(whole) as AgentEvent).type === "approval") answering.push(answer(answers.shift()));
    });
    /** As from another place: the question waits, somebody says yes or no to it. */
    const answer = async (reply: (typeof answers)[number] = { deny: "nobody was to be asked" }) => {
      for (;;) {
        const { stdout } = await hermes(["approvals", "list", "--json"], { home, cwd, env });
        const [waiting] = JSON.parse(stdout) as readonly { readonly id: string }[];
        if (waiting === undefined) continue;
        const words = reply === "once" ? ["approve", waiting.id] : ["deny", waiting.id, reply.deny];
        await hermes(["approvals", ...words], { home, cwd, env });
        return;
      }
    };
    child.stdin?.end();
    const { stdout } = await outcomeOf(child);
    await Promise.all(answering);
    const events = linesOf(stdout).map((each) => JSON.parse(each) as AgentEvent);
    const result = events.at(-1);
    if (result?.type !== "result") throw new Error(`it ended with ${JSON.stringify(result)}`);
    checkStory(story, { result, events, server, cwd, provider });
  });
});
