import type { Effect, Permission } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeThrown, ignoreRejection } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import type { CallScope } from "./scope.js";

/** Asks the tool what this call would touch, given where the session stands now. */
export function declareEffects(call: CallRecord): Failure | undefined {
  const { tool, scope } = call;
  call.taskVersion = scope.task.version;
  try {
    if (tool.secretsIn !== undefined) hideSecrets(call);
    if (tool.effects === undefined) {
      if (tool.permissions.length > 0) call.effects = tool.permissions.map(widestEffect);
      return undefined;
    }
    const declared: unknown = tool.effects(call.args, {
      cwd: scope.info.cwd,
      environment: scope.environment.name,
      session: scope.info.id,
      home: scope.home,
      exported: scope.task.exported,
      heard: scope.task.heard,
      pendingInput: (process) => scope.processes.pendingInput(process),
      sentInput: (process) => scope.processes.sentInput(process),
      commandOf: (process) => commandOf(scope, process),
    });
    call.effects = readEffects(declared);
    return undefined;
  } catch (thrown) {
    // Without a list of effects nothing can be judged, so nothing may run.
    return failure(
      "denied",
      `${call.entry.name} could not say what this call would touch: ${describeThrown(thrown).message}`,
    );
  }
}

/** Before the call is shown, journaled or asked about. */
function hideSecrets({ tool, args, scope }: CallRecord): void {
  for (const [name, value] of Object.entries(tool.secretsIn?.(args) ?? {}))
    scope.services.secrets.add(name, value);
}

function commandOf({ processes }: CallScope, process: string): string | undefined {
  try {
    return processes.get(process).info.command;
  } catch {
    return undefined;
  }
}

const MODES: readonly unknown[] = ["read", "write", "execute"];

/** A copy that the tool cannot change after the decision; anything that is not a list of effects throws. */
function readEffects(declared: unknown): readonly Effect[] {
  if (!Array.isArray(declared)) {
    ignoreRejection(declared);
    throw new TypeError("its effects are not a list");
  }
  return Array.from(declared as unknown[], (effect) => {
    if (typeof effect !== "object" || effect === null) throw new TypeError("an effect is not an object");
    const {
      action,
      resource,
      mode,
      cwd,
      variables,
      typedInto,
      typedBefore,
      ask,
      lock,
      reversible,
      shown,
      crossProfile,
      detail,
    } = effect as Effect;
    if (
      typeof action !== "string" ||
      !action.includes(":") ||
      typeof resource !== "string" ||
      !MODES.includes(mode)
    ) {
      throw new TypeError("an effect lacks action, resource or mode");
    }
    return {
      action,
      resource,
      mode,
      ...(typeof cwd === "string" && { cwd }),
      ...(typeof variables === "object" && { variables: { ...variables } }),
      ...(typeof typedInto === "string" && { typedInto }),
      ...(typeof typedBefore === "string" && { typedBefore }),
      ...(typeof detail === "string" && { detail }),
      ...(typeof ask === "object" && { ask: { ...ask, reason: String(ask.reason) } }),
      ...(typeof lock === "object" && { lock: { ...lock } }),
      ...(typeof reversible === "boolean" && { reversible }),
      ...(typeof shown === "boolean" && { shown }),
      ...(crossProfile === true && { crossProfile }),
    };
  });
}

const READING_VERBS = new Set(["read", "fetch", "search", "list", "get"]);

/** A tool that lists only permissions is taken to touch everything they allow. */
function widestEffect(action: Permission): Effect {
  const verb = action.slice(action.indexOf(":") + 1);
  const mode = READING_VERBS.has(verb) ? "read" : verb === "execute" || verb === "run" ? "execute" : "write";
  return { action, resource: "*", mode };
}
