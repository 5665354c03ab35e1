import { ownCommand } from "../base/own-command.js";
import type { Effect } from "../tool/effects.js";
import { ToolError } from "../tool/errors.js";
import type { NotTaken } from "./attempt.js";

/** What a caller is told of a call that no worker finished. */

export function nobodyCan(why: string): ToolError {
  return new ToolError(`no worker of the cluster can run it: ${why}`, {
    code: "unavailable",
    hint: `Who is there: ${ownCommand()} cluster status. Another one: ${ownCommand()} worker --cluster …`,
  });
}

export function standsElsewhere(folder: string): ToolError {
  return new ToolError(`the session stands in ${folder}, where another machine left it`, {
    code: "unavailable",
    hint: "It was not begun, because it was judged for another folder. Call again if it is right there.",
  });
}

export function neverBegun(lastWorker: string, times: number): ToolError {
  return new ToolError(`the call was sent ${times} times and begun nowhere, at last not on ${lastWorker}`, {
    code: "unavailable",
    hint: `It can be called again. What the workers do: ${ownCommand()} cluster status`,
  });
}

/** It may be what ends them: it is set aside, and its row in the journal is where it is found. */
export function deadLetter(workers: readonly string[]): ToolError {
  return new ToolError(`${workers.length} workers were lost while they ran this: ${workers.join(", ")}`, {
    code: "unavailable",
    hint: "It changes nothing. It is not tried again by itself, because it may be what ends them.",
  });
}

export function notTaken({ refusal }: NotTaken, { isUnknown }: { readonly isUnknown: boolean }): ToolError {
  const message = `the queue of the cluster did not take the call: ${refusal}`;
  return isUnknown
    ? new ToolError(message, {
        code: "unknown",
        hint: "It may have been taken all the same. Look at what it would have changed before you repeat it.",
      })
    : new ToolError(message, {
        code: "unavailable",
        hint: "It was not begun and can be called again.",
      });
}

export function lostWhileItRan(effects: readonly Effect[], worker: string): ToolError {
  const changes = effects.filter(({ mode }) => mode !== "read");
  const told = changes.slice(0, 5).map(({ action, resource }) => `${action} ${resource.slice(0, 200)}`);
  return new ToolError(`worker ${worker} was lost while it ran this; what it did is unknown`, {
    code: "unknown",
    hint: `It may have done all, some or none of this: ${told.join("; ")}. It was not run again. Look before you repeat it.`,
  });
}
