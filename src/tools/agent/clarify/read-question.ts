import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";

const MOST_CHOICES = 4;
const LONGEST_CHOICE = 200;

export interface Question {
  readonly question: string;
  /** At most four, each once, the recommended one first. */
  readonly choices: readonly string[];
  readonly multiSelect: boolean;
}

/** A question as a model sends it, made presentable. */
export function readQuestion(
  given: {
    readonly question?: string | undefined;
    readonly choices?: readonly unknown[] | undefined;
    readonly multi_select?: boolean | undefined;
  },
  where: string,
): Question {
  const question = given.question?.trim() ?? "";
  if (question === "")
    throw new ToolError(`${where} says nothing; nobody was asked.`, {
      code: "invalid_arguments",
      hint: "Give the question in words that the person understands.",
    });
  const choices = (given.choices ?? []).map(wordsOf).filter((choice) => choice !== "");
  return {
    question,
    choices: [...new Set(choices)].slice(0, MOST_CHOICES),
    multiSelect: given.multi_select === true,
  };
}

/** Models send objects where texts are asked for; one that holds only a value for programs says nothing to a person. */
function wordsOf(choice: unknown): string {
  const words = isRecord(choice)
    ? [choice.label, choice.description, choice.text, choice.title].find(
        (field) => typeof field === "string" && field.trim() !== "",
      )
    : choice;
  return typeof words === "string" || typeof words === "number"
    ? String(words).trim().slice(0, LONGEST_CHOICE)
    : "";
}
