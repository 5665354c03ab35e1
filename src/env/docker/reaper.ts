import type { DockerOptions } from "./docker.js";
import type { EngineApi } from "./engine-api.js";
import { engineFailure, isGone } from "./engine-api.js";
import { findEngine } from "./find-engine.js";
import { type ContainerRow, labelFilter, lifetimeOf, ownerOf, ownerState, taskOf } from "./labels.js";

export interface ReapedContainer {
  readonly id: string;
  readonly name: string;
  readonly task: string;
}

/** Removes what processes that are no more have left on the engine that `search` finds. */
export async function reapContainers(
  search: Pick<DockerOptions, "engine" | "host" | "env"> = {},
): Promise<readonly ReapedContainer[]> {
  const engine = await findEngine(search);
  try {
    return await reap(engine.api);
  } catch (error) {
    throw engineFailure("Containers that were left over could not be removed", error);
  } finally {
    await engine.close();
  }
}

/**
 * Ours, with an owner that is certainly dead, and either ended or too old for another process to take over.
 * Volumes go along; bound folders are on this machine and stay.
 */
export async function reap(api: EngineApi): Promise<readonly ReapedContainer[]> {
  const rows = await api.json<readonly ContainerRow[]>({
    path: "/containers/json",
    query: { all: true, filters: labelFilter() },
  });
  const removed: ReapedContainer[] = [];
  for (const row of rows) {
    if (!(await isLeftOver(row))) continue;
    if (!(await removeContainer(api, row.Id))) continue;
    removed.push({ id: row.Id, name: (row.Names?.[0] ?? row.Id).replace(/^\//, ""), task: taskOf(row) });
  }
  return removed;
}

async function isLeftOver(row: ContainerRow): Promise<boolean> {
  const owner = ownerOf(row);
  if (owner === undefined || (await ownerState(owner)) !== "dead") return false;
  if (row.State !== "running" && row.State !== "paused") return true;
  const ageSeconds = Date.now() / 1000 - (row.Created ?? Number.POSITIVE_INFINITY);
  return ageSeconds > 2 * lifetimeOf(row);
}

/** False when somebody else has removed it. */
export async function removeContainer(api: EngineApi, id: string): Promise<boolean> {
  try {
    await api.send({ method: "DELETE", path: `/containers/${id}`, query: { force: true, v: true } });
    return true;
  } catch (error) {
    // 409: another process is removing it right now.
    if (isGone(error) || /removal of container .* is already in progress/i.test(String(error))) return false;
    throw error;
  }
}
