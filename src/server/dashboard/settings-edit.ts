import type { EditResult } from "../../config/edit-result.js";
import { hermesPaths } from "../../config/paths.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Problem } from "../problem.js";

type Done = Extract<EditResult, { readonly ok: true }>;

/**
 * Writes a setting for the person at the page and puts it into force. While a change of the same file by somebody else
 * waits for a yes nothing is written: the yes to the whole file would be a yes to that as well.
 */
export async function settingsTaken(
  runtime: Runtime,
  edit: (home: string) => Promise<EditResult>,
): Promise<Done | Problem> {
  const { home } = runtime.config.paths;
  const held = await heldProblem(runtime, hermesPaths(home).config);
  if (held !== undefined) return held;
  const done = await edit(home);
  if (!done.ok) {
    const { code, message, hint } = done;
    return { status: code === "not_found" ? 404 : 400, code, message, hint };
  }
  await takeUp(runtime);
  return done;
}

/** Where something watches, what it holds back stays held back. */
export async function takeUp(runtime: Runtime): Promise<void> {
  if (runtime.changes !== undefined) await runtime.changes.look();
  else await runtime.applyConfig(await runtime.readConfig());
}

/** What has changed a moment ago counts too. */
export async function heldProblem(runtime: Runtime, file: string): Promise<Problem | undefined> {
  await runtime.changes?.look();
  if (runtime.changes?.held.some(({ path }) => path === file) !== true) return undefined;
  return {
    status: 409,
    code: "conflict",
    message: `${file} has changed and waits for a yes, so nothing more is written to it now.`,
    hint: "Look at the change first: GET /v1/changes, on the page, or with hermes changes.",
  };
}
