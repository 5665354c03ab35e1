import OpenAI from "openai";
import { describe, it } from "vitest";
import type { AgentEvent, AgentResult } from "../../src/agent/events.js";
import { createAgent } from "../../src/index.js";
import { startServer, TOKEN, until } from "../server/support.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import type { ScriptedModel } from "../support/scripted-model/server.js";
import { checkStory, scene } from "./play.js";
import { STORIES, type Story, type Told } from "./stories.js";

type Heard = Pick<Told, "result" | "events">;
type Answer = NonNullable<Story["answers"]>[number];

interface Question {
  readonly id: string;
  readonly hash: string;
  readonly signature: string;
}
const NO_QUESTION: Question = { id: "", hash: "", signature: "" };

const TOLD = Object.entries(STORIES);

/** The runtime of a story, with the model of its server. */
function optionsFor(parts: {
  readonly story: Story;
  readonly server: ScriptedModel;
  readonly provider: string;
  readonly cwd: string;
  readonly home: string;
}) {
  const { story, server, provider, cwd, home } = parts;
  const { maxTurns, answers } = story;
  return {
    builtins: true,
    userTools: true,
    cwd,
    home,
    env: { PATH: process.env.PATH, HOME: home },
    flags: {
      "model.provider": provider,
      "model.name": "scripted",
      "model.base_url": server.url,
      "model.api_key": "test-key",
      "model.context_tokens": 200_000,
      ...(maxTurns !== undefined && { "agent.max_turns": maxTurns }),
      ...(answers !== undefined && { "approvals.unattended_mode": "queue" }),
    },
  };
}

/** What a person says to the next question. */
function replies(story: Story) {
  const left: Answer[] = [...(story.answers ?? [])];
  return async () => {
    const answer = left.shift() ?? { deny: "nobody was to be asked" };
    return answer === "once" ? { answer: "once" as const } : { answer: "deny" as const, reason: answer.deny };
  };
}

describe("stories through the library", () => {
  it.each(TOLD)("%s", async (_, story) => {
    const { server, cwd, home } = await scene(story, tempDir());
    onTestEnd(() => server.close());
    const provider = "anthropic";
    const { runtime } = await testRuntime([], optionsFor({ story, server, provider, cwd, home }));
    await using agent = await createAgent({ runtime, approver: replies(story) });
    const events: AgentEvent[] = [];
    for await (const event of agent.send(story.say)) events.push(event);
    const result = events.at(-1);
    if (result?.type !== "result") throw new Error(`the turn ended with ${JSON.stringify(result)}`);
    checkStory(story, { result, events, server, cwd, provider });
  });
});

describe("stories through /v1/chat/completions", () => {
  it.each(TOLD)("%s", async (_, story) => {
    const { server, cwd, home } = await scene(story, tempDir());
    onTestEnd(() => server.close());
    const provider = "openai";
    const door = await startServer([], {
      runtime: optionsFor({ story, server, provider, cwd, home }),
    });
    const client = new OpenAI({
      apiKey: TOKEN,
      baseURL: new URL("/v1", door.server.url).href,
      maxRetries: 0,
    });
    const reply = replies(story);
    const questions = async () =>
      ((await (await door.ask("/v1/approvals")).json()) as { readonly approvals: readonly Question[] })
        .approvals;
    const onQuestion = async () => {
      // Told a moment before it lies in the queue.
      await until(async () => (await questions()).length > 0);
      const [{ id, hash, signature } = NO_QUESTION] = await questions();
      await door.ask("/v1/approvals", {
        method: "POST",
        body: JSON.stringify({ id, hash, signature, ...(await reply()) }),
      });
    };
    const heard = await streamed(client, { say: story.say, onQuestion });
    checkStory(story, { ...heard, server, cwd, provider });
  });
});

/** The chunks of an answer as the events and the result they tell of. */
async function streamed(
  client: OpenAI,
  { say, onQuestion }: { readonly say: string; onQuestion(): Promise<void> },
): Promise<Heard> {
  const stream = await client.chat.completions.create({
    model: "hermes",
    messages: [{ role: "user", content: say }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const events: AgentEvent[] = [];
  let text = "";
  let about: Record<string, unknown> = {};
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    const { hermes = {} } = chunk as { readonly hermes?: { readonly event?: AgentEvent } };
    if (hermes.event !== undefined) {
      events.push(hermes.event);
      // What is said after a call is what counts as the answer.
      if (hermes.event.type === "tool_use") text = "";
      if (hermes.event.type === "approval") await onQuestion();
    } else if ("session" in hermes) about = { ...hermes };
    if (chunk.usage) about.usage = { requests: about.requests, input_tokens: chunk.usage.prompt_tokens };
  }
  return { events, result: { ...about, text: text.trim() } as unknown as Omit<AgentResult, "type"> };
}
