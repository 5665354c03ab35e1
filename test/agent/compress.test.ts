import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ModelError } from "../../src/model/model-client.js";
import { agentWith, call, calls, type Step, said, says, scripted } from "./support.js";

/** Long enough that leaving it out makes room. */
const long = (words: string) => `${words} ${"and so on ".repeat(120)}`;

/** A server that counts: what it was asked with takes this many tokens. */
function counting(step: Step, inputTokens: number): Step {
  return (request) =>
    (typeof step === "function" ? [...(step(request) as readonly never[])] : step).map((part) =>
      part.type === "finish" ? { ...part, usage: { inputTokens, outputTokens: 10 } } : part,
    );
}

it("old messages become a summary when the server counts too many; calls keep their results", async () => {
  const model = scripted(
    counting(
      calls(call("a", "todo", { todos: [{ id: "1", content: "paint the fence", status: "pending" }] })),
      100,
    ),
    counting(says("First."), 200),
    counting(says("Second."), 900),
    says("The person wanted a fence painted."),
    counting(says("Third."), 150),
  );
  const { agent, store } = await agentWith(model, { contextTokens: 1_000 });
  await said(agent, long("one: paint it green"));
  await said(agent, long("two"));
  const { result, events } = await said(agent, long("three"));
  expect(result).toMatchObject({ text: "Third.", usage: { requests: 2 } });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "notice", message: expect.stringContaining("summarised") }),
  );
  expect(model.asked[3]?.purpose).toBe("summary");
  const last = model.asked[4]?.messages ?? [];
  const text = JSON.stringify(last);
  expect(text).toContain("The person wanted a fence painted.");
  expect(text).toContain("paint the fence");
  expect(last.at(-1)).toMatchObject({ role: "user", content: long("three") });
  // No answer without its call.
  const made = new Set(
    last
      .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
      .map(({ id }) => id),
  );
  for (const message of last) if (message.role === "tool") expect(made.has(message.toolCallId)).toBe(true);
  // Nothing is lost on disk.
  expect(
    (await store.messages(agent.conversation)).some(({ content }) => content === long("one: paint it green")),
  ).toBe(true);
});

it("lesson 63: no summary, no cut", async () => {
  const model = scripted(
    counting(says("First."), 900),
    () => {
      throw new ModelError("unreachable", "nobody answers");
    },
    says("Second."),
  );
  const { agent } = await agentWith(model, { contextTokens: 1_000 });
  await said(agent, long("one"));
  const { result, events } = await said(agent, long("two"));
  expect(result.text).toBe("Second.");
  expect(events).toContainEqual(
    expect.objectContaining({ type: "notice", message: expect.stringContaining("all are kept") }),
  );
  expect(JSON.stringify(model.asked[2]?.messages)).toContain("one");
});

it("a server that says it was too much is asked again with less", async () => {
  const model = scripted(
    says("First."),
    says("Second."),
    () => {
      throw new ModelError("too_long", "the model cannot read that much", 400);
    },
    says("It was about numbers."),
    says("Third."),
  );
  const { agent } = await agentWith(model);
  await said(agent, "one ".repeat(500));
  await said(agent, "two ".repeat(500));
  const { result } = await said(agent, "three");
  expect(result).toMatchObject({ text: "Third.", stop: "end" });
  expect(JSON.stringify(model.asked[4]?.messages)).toContain("It was about numbers.");
});

describe("lesson 64: summaries are made for what the server counts, and not for little", () => {
  it("an estimate that is too high makes none", async () => {
    const model = scripted(counting(says("First."), 100), counting(says("Second."), 150));
    const { agent } = await agentWith(model, { contextTokens: 1_000 });
    await said(agent, "word ".repeat(3_000));
    await said(agent, "more");
    expect(model.asked.map(({ purpose }) => purpose)).toEqual(["turn", "turn"]);
  });

  it("one that makes little room is the last until there is more to sum up, also in later turns", async () => {
    const summary = says(`A summary as long as what it stands for. ${"and so on ".repeat(100)}`);
    const model = scripted(
      counting(says(long("First.")), 500),
      counting(says("Second."), 950),
      summary,
      counting(says("Third."), 950),
      counting(says("Fourth."), 960),
      counting(says("Fifth."), 970),
    );
    const { agent } = await agentWith(model, { contextTokens: 1_000 });
    for (const words of [long("one"), "two", "three", "four", "five"]) await said(agent, words);
    expect(model.asked.map(({ purpose }) => purpose)).toEqual([
      "turn",
      "turn",
      "summary",
      "turn",
      "turn",
      "turn",
    ]);
  });
});

describe("lesson 65: what was done is not done again after a summary", () => {
  it("the person's last words, what is open and what is done stay as they are, also through two summaries", async () => {
    const todos = [
      { id: "1", content: "dig the hole", status: "completed" },
      { id: "2", content: "plant the tree", status: "in_progress" },
      { id: "3", content: "buy a goat", status: "cancelled" },
    ];
    const read = (id: string) => calls(call(id, "read_file", { path: `${id}.txt` }));
    const model = scripted(
      counting(read("a"), 100),
      counting(read("b"), 200),
      counting(calls(call("t", "todo", { todos })), 3_600),
      says("Summary one."),
      counting(read("c"), 3_800),
      says("Summary two."),
      counting(says("It grows."), 200),
    );
    const { agent, cwd } = await agentWith(model, { contextTokens: 4_000 });
    for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, `${name}.txt`), long(name).repeat(4));
    const words = "Plant an oak in the garden, not a birch";
    expect((await said(agent, words)).result).toMatchObject({ text: "It grows.", stop: "end" });
    expect(model.asked.map(({ purpose }) => purpose)).toEqual([
      "turn",
      "turn",
      "turn",
      "summary",
      "turn",
      "summary",
      "turn",
    ]);
    const last = JSON.stringify(model.asked.at(-1)?.messages);
    expect(last).toContain("Summary two.");
    expect(last).toContain(words);
    expect(last).toContain("- [in_progress] plant the tree");
    expect(last).toContain("- [completed] dig the hole");
    expect(last).toContain("- [cancelled] buy a goat");
    expect(last.indexOf("dig the hole")).toBeGreaterThan(last.indexOf("not to be done again"));
  });
});
