import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { columns, mark } from "../../tool/marked-text.js";
import { currentConfig } from "./choice.js";

interface ConfigAnswer {
  readonly environment: string;
  /** What rl_edit_config can change. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
  readonly locked: Readonly<Record<string, unknown>>;
}

export default defineTool({
  name: "rl_get_current_config",
  toolset: "rl",
  emoji: "🏋️",
  description: "Configuration of the next training: fields that can be edited, and locked ones.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["rl:read"],
  effects: () => [{ action: "rl:read", resource: "configuration", mode: "read" }],
  timeoutMs: 15_000,

  async handler(_args, ctx): Promise<ConfigAnswer> {
    const { environment, config, changed } = await currentConfig(ctx);
    return {
      environment: environment.name,
      config,
      changed: Object.keys(changed),
      locked: environment.locked,
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      mark.strong(out.environment),
      columns([
        ...Object.entries(out.config).map(([field, value]) => [
          out.changed.includes(field) ? mark.good(field) : field,
          JSON.stringify(value),
        ]),
        ...Object.entries(out.locked).map(([field, value]) => [
          mark.dim(`${field} (locked)`),
          mark.dim(JSON.stringify(value)),
        ]),
      ]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "What would the next run use?",
      files: {
        "environments/gsm8k.yaml": "config: { group_size: 16 }\nlocked: { lora_rank: 32 }\n",
      },
      settings: { "rl.environments_folder": "{folder}/environments" },
      before: [
        { name: "rl_select_environment", arguments: { name: "gsm8k" } },
        { name: "rl_edit_config", arguments: { field: "group_size", value: 8 } },
      ],
      arguments: {},
      result: {
        environment: "gsm8k",
        config: { group_size: 8 },
        changed: ["group_size"],
        locked: { lora_rank: 32 },
      },
    },
  ],
});
