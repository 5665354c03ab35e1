import { registry } from "hermes-tools";

registry.register({
  name: "word_count",
  toolset: "text",
  emoji: "🔢",
  schema: {
    description: "Count the words of a text",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  handler: (args: { text: string }) =>
    JSON.stringify({ words: args.text.split(/\s+/).filter(Boolean).length }),
});
