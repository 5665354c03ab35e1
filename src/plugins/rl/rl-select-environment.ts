import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { saveChoice } from "./choice.js";
import { environmentNamed } from "./environments.js";
import { lines, shownFields } from "./shown.js";

export default defineTool({
  name: "rl_select_environment",
  toolset: "rl",
  emoji: "🏋️",
  description: "Select the environment for the next training; its configuration begins anew.",
  parameters: {
    type: "object",
    properties: { name: { type: "string", minLength: 1, maxLength: 200 } },
    required: ["name"],
    additionalProperties: false,
  },
  permissions: ["rl:write"],
  effects: () => [{ action: "rl:write", resource: "configuration", mode: "write" }],
  timeoutMs: 15_000,

  async handler({ name }, ctx) {
    const { description, config, locked } = await environmentNamed(name, ctx);
    await saveChoice(ctx, { environment: name, changed: {} });
    return { selected: name, description, config, locked_fields: Object.keys(locked) };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: lines(
      `${mark.good(out.selected)} ${mark.dim(out.description)}`,
      shownFields(out.config),
      out.locked_fields.length === 0 ? "" : mark.dim(`locked: ${out.locked_fields.join(", ")}`),
    ),
  }),

  examples: [
    {
      title: "Train on sums",
      files: {
        "environments/gsm8k.yaml": "config: { group_size: 16 }\nlocked: { tokenizer_name: Qwen/Qwen3-8B }\n",
      },
      settings: { "rl.environments_folder": "{folder}/environments" },
      arguments: { name: "gsm8k" },
      result: { selected: "gsm8k", config: { group_size: 16 }, locked_fields: ["tokenizer_name"] },
    },
  ],
});
