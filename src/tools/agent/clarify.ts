import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";

const MOST_CHOICES = 4;

export default defineTool({
  name: "clarify",
  toolset: "clarify",
  emoji: "❓",
  description:
    "Ask the person when the task cannot go on without their decision; not for what you can find out or decide yourself.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", minLength: 1, maxLength: 2_000 },
      choices: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 200 },
        description: `Up to ${MOST_CHOICES}, the one you would take first; the person may answer otherwise`,
      },
    },
    required: ["question"],
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  interactive: true,
  // A person may be away for a while.
  timeoutMs: 3_600_000,

  async handler({ question, choices = [] }, ctx) {
    const offered = [
      ...new Set(choices.map((choice) => choice.trim()).filter((choice) => choice !== "")),
    ].slice(0, MOST_CHOICES);
    const answer = await ctx.ask({ question, ...(offered.length > 0 && { choices: offered }) });
    if (answer === undefined)
      throw new ToolError("Nobody answered.", {
        code: "unavailable",
        hint: "Decide yourself with what you know, and say what you assumed.",
      });
    return { question, choices_offered: offered, user_response: answer };
  },
});
