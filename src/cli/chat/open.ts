import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import type { AgentModel } from "../../agent/turn.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";

/** Reads only: what a plan needs. */
export const PLAN_PROFILE = "readonly_research";

/** The model that the settings or `--model` name; none is an error that says how to get one. */
export async function chosenModel(
  { options }: CommandContext,
  { runtime, notice }: { readonly runtime: Runtime; notice(message: string): void },
): Promise<AgentModel> {
  const { configuredModel } = await import("../../agent/configured-model.js");
  const model = await configuredModel(runtime.config, {
    model: typeof options.model === "string" ? options.model : undefined,
    onNotice: notice,
  });
  if (!("fixes" in model)) return model;
  process.exitCode = EXIT.authentication;
  throw commandError("unavailable", model.reason, model.fixes.join("\n"));
}

/** The conversation that `--resume` names; undefined for a new one. */
export async function chosenConversation(
  { options }: CommandContext,
  store: SqliteConversationStore,
): Promise<string | undefined> {
  const { resume } = options;
  if (typeof resume !== "string") return undefined;
  if (resume !== "last") return resume;
  const newest = await store.newest();
  if (newest !== undefined) return newest.id;
  throw commandError("not_found", "There is no conversation to go on with", 'Begin one: hermes chat -q "…"');
}

/** `--max-turns`; undefined when it was not given. */
export function mostTurns({ options }: CommandContext): number | undefined {
  if (typeof options.maxTurns !== "string") return undefined;
  const turns = Number(options.maxTurns);
  if (Number.isInteger(turns) && turns >= 1) return turns;
  throw commandError("bad_request", `--max-turns ${options.maxTurns} is not a whole number above 0`);
}
