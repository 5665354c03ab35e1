import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { type Question, readQuestion } from "./clarify/read-question.js";

const MOST_QUESTIONS = 5;

interface Answered {
  readonly question: string;
  readonly choices_offered: readonly string[];
  /** A list where several could be chosen. */
  readonly user_response: string | readonly string[];
}

type ClarifyAnswer = Answered | { readonly responses: readonly Answered[] };

const choices = {
  type: "array",
  items: {},
  description: "Up to 4, the one you would take first; the person may answer otherwise",
} as const;

export default defineTool({
  name: "clarify",
  toolset: "clarify",
  emoji: "❓",
  description:
    "Ask the person when the task cannot go on without their decision; not for what you can find out or decide " +
    "yourself. questions asks up to 5, one after the other.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", maxLength: 2_000 },
      choices,
      multi_select: { type: "boolean", default: false, description: "Several choices may be taken" },
      questions: {
        type: "array",
        description: "Instead of question",
        items: {
          type: "object",
          properties: {
            question: { type: "string", maxLength: 2_000 },
            choices,
            multi_select: { type: "boolean", default: false },
          },
          required: ["question"],
        },
      },
    },
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  interactive: true,
  // A person may be away for a while.
  timeoutMs: 3_600_000,
  examples: [
    {
      title: "Let the person decide between two ways",
      arguments: { question: "Which database shall I use?", choices: ["SQLite", "PostgreSQL"] },
      result: {
        question: "Which database shall I use?",
        choices_offered: ["SQLite", "PostgreSQL"],
        user_response: "SQLite",
      },
    },
    {
      title: "Ask two things at once",
      arguments: {
        questions: [
          { question: "Which name?", choices: ["parser", "reader"] },
          { question: "Which platforms?", choices: ["Linux", "macOS", "Windows"], multi_select: true },
        ],
      },
      result: {
        responses: [{ user_response: "parser" }, { user_response: ["Linux"] }],
      },
    },
  ],

  async handler(args, ctx): Promise<ClarifyAnswer> {
    if (args.questions === undefined || args.questions.length === 0) {
      return ask(readQuestion(args, "question"), ctx);
    }
    if (args.questions.length > MOST_QUESTIONS)
      throw new ToolError(`At most ${MOST_QUESTIONS} questions; ${args.questions.length} were given.`, {
        code: "invalid_arguments",
        hint: "Ask what decides most, and find out or assume the rest.",
      });
    // Nobody is asked the first before the last is known to be in order.
    const questions = args.questions.map((one, index) => readQuestion(one, `questions[${index}]`));
    const responses: Answered[] = [];
    for (const question of questions) responses.push(await ask(question, ctx));
    return { responses };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: ("responses" in out ? out.responses : [out])
      .map(({ question, user_response: said }) => `${mark.dim(question)}\n${[said].flat().join(", ")}`)
      .join("\n"),
  }),
});

async function ask(question: Question, ctx: CallContext): Promise<Answered> {
  const { question: words, choices: offered, multiSelect } = question;
  const [first, ...rest] = offered;
  const shown = first === undefined || rest.length === 0 ? offered : [recommended(first), ...rest];
  const answer = await ctx.ask({
    question: multiSelect && offered.length > 1 ? `${words} (several, with commas between)` : words,
    ...(shown.length > 0 && { choices: shown }),
  });
  if (answer === undefined)
    throw new ToolError("Nobody answered.", {
      code: "unavailable",
      hint: "Decide yourself with what you know, and say what you assumed.",
    });
  return {
    question: words,
    choices_offered: offered,
    user_response: multiSelect ? parts(answer, offered) : withoutMark(answer, offered),
  };
}

const RECOMMENDED = / *\(recommended\)$/i;

function recommended(choice: string): string {
  return RECOMMENDED.test(choice) ? choice : `${choice} (Recommended)`;
}

/** The mark is for the person; what was chosen is the choice. */
function withoutMark(answer: string, offered: readonly string[]): string {
  if (offered.includes(answer)) return answer;
  const plain = answer.replace(RECOMMENDED, "");
  return offered.includes(plain) ? plain : answer;
}

/** A choice may hold a comma itself. */
function parts(answer: string, offered: readonly string[]): readonly string[] {
  const whole = withoutMark(answer, offered);
  if (offered.includes(whole)) return [whole];
  return answer
    .split(",")
    .map((part) => withoutMark(part.trim(), offered))
    .filter((part) => part !== "");
}
