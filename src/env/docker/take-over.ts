import { setTimeout as delay } from "node:timers/promises";
import { type EngineApi, EngineError } from "./engine-api.js";
import { type ContainerIdentity, type ContainerRow, containerName, labelFilter, ownerOf } from "./labels.js";
import { ownerState, thisOwner } from "./owner.js";

/** Two processes may want the same container: after this long its name shows who came last. */
const CLAIM_MS = 100;

/**
 * Id of a container that a dead process has left, with the same task and configuration, and that is now this
 * process's own. One whose owner lives is never shared: whoever closes first would take it from the other.
 */
export async function claimLeftOver(
  api: EngineApi,
  identity: ContainerIdentity,
): Promise<string | undefined> {
  const rows = await api.json<readonly ContainerRow[]>({
    path: "/containers/json",
    query: { all: true, filters: labelFilter(identity) },
  });
  for (const row of rows) {
    const owner = ownerOf(row);
    if (owner === undefined || (await ownerState(owner)) !== "dead") continue;
    if (await claim(api, { id: row.Id, task: identity.task })) return row.Id;
  }
  return undefined;
}

async function claim(
  api: EngineApi,
  wanted: { readonly id: string; readonly task: string },
): Promise<boolean> {
  const name = containerName(wanted.task, await thisOwner());
  try {
    await api.send({ method: "POST", path: `/containers/${wanted.id}/rename`, query: { name } });
    await delay(CLAIM_MS);
    const found = await api.json<{ readonly Name: string }>({ path: `/containers/${wanted.id}/json` });
    return found.Name.replace(/^\//, "") === name;
  } catch (error) {
    // Removed or renamed by somebody else meanwhile: not ours.
    if (error instanceof EngineError && error.status !== undefined) return false;
    throw error;
  }
}
