import { expect, it } from "vitest";
import { testRuntime } from "../../support/runtime.js";

type Asked = { readonly question: string; readonly choices?: readonly string[] };

/** A session whose person gives these answers, through the whole path. */
async function person(answers: readonly (string | undefined)[] | undefined) {
  const asked: Asked[] = [];
  const { runtime } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession(
    answers === undefined
      ? {}
      : {
          ask: async (question) => {
            asked.push(question);
            return answers[asked.length - 1];
          },
        },
  );
  const clarify = (args: unknown) => session.call({ name: "clarify", arguments: args });
  return { asked, clarify };
}

it("recommends the first of several choices, and the mark is never in the answer", async () => {
  const { asked, clarify } = await person(["SQLite (Recommended)"]);
  const { structured } = await clarify({ question: "Which one?", choices: ["SQLite", "PostgreSQL"] });
  expect(asked).toEqual([{ question: "Which one?", choices: ["SQLite (Recommended)", "PostgreSQL"] }]);
  expect(structured).toEqual({
    question: "Which one?",
    choices_offered: ["SQLite", "PostgreSQL"],
    user_response: "SQLite",
  });
});

it("does not mark twice, nor a choice that is the only one; people may answer otherwise", async () => {
  const { asked, clarify } = await person(["neither", "yes"]);
  const first = await clarify({ question: "a", choices: ["x (recommended)", "y"] });
  await clarify({ question: "b", choices: ["yes"] });
  expect(asked.map(({ choices }) => choices)).toEqual([["x (recommended)", "y"], ["yes"]]);
  expect(first.structured).toMatchObject({ user_response: "neither" });
});

it("takes objects for choices by their words, drops those that have none, keeps four", async () => {
  const { clarify } = await person(["a"]);
  const { structured } = await clarify({
    question: "Which?",
    choices: [
      { label: "a", value: 1 },
      { value: 2 },
      { description: "b" },
      { title: "c" },
      "a",
      " ",
      "d",
      "e",
    ],
  });
  expect(structured).toMatchObject({ choices_offered: ["a", "b", "c", "d"] });
});

it("asks several questions in order; the batch wins over a single one", async () => {
  const { asked, clarify } = await person(["first", "Linux, macOS"]);
  const { structured } = await clarify({
    question: "not asked",
    questions: [
      { question: "One?" },
      { question: "Two?", choices: ["Linux", "macOS", "Windows"], multi_select: true },
    ],
  });
  expect(asked.map(({ question }) => question)).toEqual(["One?", "Two? (several, with commas between)"]);
  expect(structured).toEqual({
    responses: [
      { question: "One?", choices_offered: [], user_response: "first" },
      { question: "Two?", choices_offered: ["Linux", "macOS", "Windows"], user_response: ["Linux", "macOS"] },
    ],
  });
});

it("asks nobody when one of the questions is empty, or there are more than five", async () => {
  const { asked, clarify } = await person(["x"]);
  const many = Array.from({ length: 6 }, (_, index) => ({ question: `${index}?` }));
  for (const args of [
    { questions: many },
    { questions: [{ question: "a" }, { question: " " }] },
    { question: "" },
    {},
  ])
    expect((await clarify(args)).error?.code).toBe("invalid_arguments");
  expect(asked).toEqual([]);
});

it("says so when nobody is there, so that the model decides itself", async () => {
  for (const answers of [[undefined], undefined]) {
    const { clarify } = await person(answers);
    const { error } = await clarify({ question: "Which one?" });
    expect(error).toMatchObject({ code: "unavailable", message: "Nobody answered." });
  }
});
