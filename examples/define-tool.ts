import { defineTool } from "hermes-tools";

export default defineTool({
  name: "greet",
  description: "Greet somebody",
  parameters: {
    type: "object",
    properties: { who: { type: "string" }, loud: { type: "boolean", default: false } },
    required: ["who"],
  },
  handler: ({ who, loud }) => (loud ? `HELLO, ${who.toUpperCase()}!` : `Hello, ${who}!`),
});
