import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { columns, mark } from "../../tool/marked-text.js";
import { chosenName } from "./choice.js";
import { findEnvironments, NO_ENVIRONMENTS } from "./environments.js";

interface EnvironmentList {
  readonly count: number;
  readonly environments: readonly {
    readonly name: string;
    readonly description: string;
    readonly file: string;
  }[];
  readonly selected?: string | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "rl_list_environments",
  toolset: "rl",
  emoji: "🏋️",
  description: "List the environments that a model can be trained on by reinforcement learning.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["rl:read"],
  effects: () => [{ action: "rl:read", resource: "environments", mode: "read" }],
  timeoutMs: 15_000,

  async handler(_args, ctx): Promise<EnvironmentList> {
    const { environments, problems } = await findEnvironments(ctx);
    return {
      count: environments.length,
      environments: environments.map(({ name, description, file }) => ({ name, description, file })),
      selected: await chosenName(ctx),
      ...(problems.length > 0 && { problems }),
      ...(environments.length === 0 && { note: NO_ENVIRONMENTS }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      columns(
        out.environments.map(({ name, description }) => [
          name === out.selected ? mark.good(name) : mark.strong(name),
          mark.dim(description),
        ]),
      ),
      ...(out.problems ?? []).map((problem) => mark.warning(problem)),
      ...(out.note === undefined ? [] : [out.note]),
    ]
      .filter((line) => line !== "")
      .join("\n"),
  }),

  examples: [
    {
      title: "What can be trained on?",
      files: { "environments/gsm8k.yaml": "description: Sums from school\nconfig: { group_size: 16 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments" },
      arguments: {},
      result: { count: 1, environments: [{ name: "gsm8k", description: "Sums from school" }] },
    },
  ],
});
