import type { ContainerBody } from "./create-options.js";
import { type EngineApi, EngineError } from "./engine-api.js";

/** Leaves out, one by one, what this engine turns out not to be able to do, and says so. */
export async function createContainer(
  api: EngineApi,
  request: { readonly name: string; readonly body: ContainerBody },
): Promise<{ readonly id: string; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  for (let body = request.body; ; ) {
    try {
      const { Id } = await api.json<{ readonly Id: string }>({
        method: "POST",
        path: "/containers/create",
        query: { name: request.name },
        body,
      });
      return { id: Id, notes };
    } catch (error) {
      const lesser = withoutWhatFailed(body, error);
      if (lesser === undefined) throw error;
      body = lesser.body;
      notes.push(lesser.note);
    }
  }
}

function withoutWhatFailed(
  body: ContainerBody,
  error: unknown,
): { readonly body: ContainerBody; readonly note: string } | undefined {
  if (!(error instanceof EngineError) || error.status === undefined) return undefined;
  const { StorageOpt, Init, ...host } = body.HostConfig;
  if (StorageOpt !== undefined && /storage.?opt|quotas/i.test(error.message)) {
    const HostConfig = { ...host, ...(Init === undefined ? {} : { Init }) };
    return { body: { ...body, HostConfig }, note: "disk is not limited: the engine's storage cannot do it" };
  }
  if (Init === true && /container-init|docker-init/i.test(error.message)) {
    const HostConfig = { ...host, ...(StorageOpt === undefined ? {} : { StorageOpt }) };
    return { body: { ...body, HostConfig }, note: "no init program: the engine has none installed" };
  }
  return undefined;
}
