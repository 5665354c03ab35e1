import type { Environment } from "../env/environment.js";

/** The same environment, except for what is given: every wrapper of an environment says only what it changes. */
export function delegateEnvironment(environment: Environment, changed: Partial<Environment>): Environment {
  const { snapshot, suspend, filesOf, endSession, ownNetwork } = environment;
  return {
    name: environment.name,
    kind: environment.kind,
    files: environment.files,
    filesOf: filesOf?.bind(environment),
    endSession: endSession?.bind(environment),
    ownNetwork,
    waitsForReady: environment.waitsForReady,
    exec: (request) => environment.exec(request),
    spawn: (request) => environment.spawn(request),
    fetch: (transfer) => environment.fetch(transfer),
    push: (transfer) => environment.push(transfer),
    snapshot: snapshot?.bind(environment),
    suspend: suspend?.bind(environment),
    describe: () => environment.describe(),
    close: () => environment.close(),
    ...changed,
  };
}
