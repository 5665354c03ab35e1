import { describe, it } from "vitest";
import { openRoute } from "../../src/model/open-route.js";
import { agentWith, said } from "../agent/support.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { checkStory, FORMATS, scene } from "./play.js";
import { STORIES } from "./stories.js";

/** Each in one of the formats, in turn; `cli.test.ts` tells all of them in both. */
const TOLD = Object.entries(STORIES).map(
  ([name, story], at) => [name, FORMATS[at % FORMATS.length] ?? "openai", story] as const,
);

describe("stories", () => {
  it.each(TOLD)("%s (%s)", async (_, provider, story) => {
    const { server, cwd, home } = await scene(story, tempDir());
    onTestEnd(() => server.close());
    const answers = [...(story.answers ?? [])];
    const client = openRoute({
      provider,
      model: "scripted",
      url: server.url,
      idleMs: 60_000,
      foundBy: "test",
    });
    const { agent } = await agentWith(client, {
      home,
      cwd,
      userTools: true,
      maxTurns: story.maxTurns,
      approver: async () => {
        const answer = answers.shift() ?? { deny: "nobody was to be asked" };
        return answer === "once" ? "once" : { answer: "deny", reason: answer.deny };
      },
    });
    const { result, events } = await said(agent, story.say);
    checkStory(story, { result, events, server, cwd, provider });
  });
});
