import type { LoadedConfig } from "../config/types.js";
import { complete, ModelError, type ModelMessage } from "../model/model-client.js";
import { openModel } from "../model/open-route.js";
import { isRoute, resolveRoute, routeName } from "../model/route.js";
import { text } from "../tool/content.js";
import { ToolError } from "../tool/errors.js";
import type { ModelsHost } from "../tool/host-capabilities.js";
import { tokensOf } from "./context-meter.js";
import { type Budget, Ledger, type Priced } from "./ledger.js";
import type { ConversationStore } from "./sessions/types.js";
import type { AgentModel } from "./turn.js";

/** About what a picture takes, for the budget. */
const IMAGE_TOKENS = 1_500;

export interface OpinionParts {
  readonly config: LoadedConfig;
  /** The agent's own. */
  readonly model: AgentModel;
  readonly store: ConversationStore;
  /** The conversation that the requests are billed to. */
  readonly payer: string;
  budget(): Budget;
}

/** The models of `mixture.models` with the one that sums up; the agent's own where none are named. */
export function modelsForOpinions(parts: OpinionParts): ModelsHost {
  const { models, aggregator } = parts.config.values.mixture;
  const named = models.split(",").flatMap((name) => name.trim() || []);
  const opened = new Map<string, Promise<AgentModel>>();
  const open = (name: string): Promise<AgentModel> => {
    const known = opened.get(name) ?? opinionModel(name, parts);
    opened.set(name, known);
    return known;
  };
  return {
    names: () => [...named, aggregator.trim() || parts.model.name],

    async ask({ model: name = parts.model.name, system, prompt, images = [], purpose = "mixture", ...rest }) {
      const model = name === parts.model.name ? parts.model : await open(name);
      const ledger = ledgerOf(model, parts);
      const content = [text(prompt), ...images.map((image) => ({ type: "image" as const, ...image }))];
      const messages: readonly ModelMessage[] = [
        ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
        { role: "user", content: images.length === 0 ? prompt : content },
      ];
      const refusal = await ledger.reserve(tokensOf([system, prompt]) + images.length * IMAGE_TOKENS);
      if (refusal !== undefined) throw new ToolError(refusal, { code: "over_budget" });
      try {
        const answer = await complete(model.client, { messages, purpose, ...rest });
        await ledger.add(purpose, answer);
        return { model: model.name, text: answer.text.trim(), usage: answer.usage };
      } catch (error) {
        ledger.release();
        if (!ModelError.isInstance(error)) throw error;
        throw new ToolError(`${model.name} did not answer: ${error.message}.`, { cause: error });
      }
    },

    async bill({ purpose, usage, model: name }) {
      // Under another name nobody has said what it costs, unless its server has.
      const isOwn = name === undefined || parts.model.name.endsWith(`:${name}`);
      const model = isOwn ? parts.model : { name };
      await ledgerOf(model, parts).add(purpose, { usage, model: name });
    },
  };
}

function ledgerOf(model: Priced, { store, payer, budget }: OpinionParts): Ledger {
  return new Ledger({ store, session: payer, model, budget });
}

async function opinionModel(name: string, { config }: OpinionParts): Promise<AgentModel> {
  const route = await resolveRoute(config, { model: name });
  if (!isRoute(route))
    throw new ToolError(`${name} cannot be asked: ${route.reason}.`, {
      code: "unavailable",
      hint: route.fixes[0],
    });
  return { client: openModel([route]), name: routeName(route), prices: route.prices };
}
