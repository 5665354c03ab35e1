import { didYouMean } from "../../config/did-you-mean.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { currentConfig, saveChoice } from "./choice.js";

const MAX_VALUE_CHARS = 20_000;

export default defineTool({
  name: "rl_edit_config",
  toolset: "rl",
  emoji: "🏋️",
  description: "Change one field of the configuration of the next training.",
  parameters: {
    type: "object",
    properties: {
      field: { type: "string", minLength: 1, maxLength: 200 },
      value: { description: "Of the type that the field has" },
    },
    required: ["field", "value"],
    additionalProperties: false,
  },
  permissions: ["rl:write"],
  effects: () => [{ action: "rl:write", resource: "configuration", mode: "write" }],
  timeoutMs: 15_000,

  async handler({ field, value }, ctx) {
    const { environment, config, changed } = await currentConfig(ctx);
    const fields = Object.keys(environment.config);
    if (Object.hasOwn(environment.locked, field)) {
      throw new ToolError(`${field} is locked: only the operator changes it, in ${environment.file}.`, {
        code: "denied",
        hint: `Fields that can be edited: ${fields.join(", ") || "none"}.`,
      });
    }
    if (!Object.hasOwn(environment.config, field)) {
      throw new ToolError(`${environment.name} has no field ${JSON.stringify(field)}.`, {
        code: "invalid_arguments",
        hint: didYouMean(field, fields) ?? `Fields that can be edited: ${fields.join(", ") || "none"}.`,
      });
    }
    const wanted = typeOf(environment.config[field]);
    const given = readable(value, wanted);
    if (wanted !== "null" && typeOf(given) !== wanted) {
      throw new ToolError(`${field} is of the type ${wanted}, not ${typeOf(given)}.`, {
        code: "invalid_arguments",
        hint: `Now it is ${JSON.stringify(config[field])}.`,
      });
    }
    if (JSON.stringify(given).length > MAX_VALUE_CHARS) {
      throw new ToolError(`The value of ${field} is too long.`, { code: "invalid_arguments" });
    }
    await saveChoice(ctx, { environment: environment.name, changed: { ...changed, [field]: given } });
    return { environment: environment.name, field, before: config[field] ?? null, value: given };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `${out.environment}: ${mark.strong(out.field)} ${mark.dim(JSON.stringify(out.before))} → ${JSON.stringify(out.value)}`,
  }),

  examples: [
    {
      title: "Smaller groups",
      files: { "environments/gsm8k.yaml": "config: { group_size: 16 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments" },
      before: [{ name: "rl_select_environment", arguments: { name: "gsm8k" } }],
      arguments: { field: "group_size", value: 8 },
      result: { field: "group_size", before: 16, value: 8 },
    },
  ],
});

/** Models send numbers and yes or no as texts where any type is allowed. */
function readable(value: unknown, wanted: string): unknown {
  if (typeof value !== "string" || wanted === "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}
