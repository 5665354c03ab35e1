import type { Environment } from "./environment.js";

/**
 * The environment of one session: its commands may change this folder. Set here and not by tools, so that
 * no argument of a call can move the boundary.
 */
export function inWorkspace(environment: Environment, workspace: string): Environment {
  return {
    name: environment.name,
    kind: environment.kind,
    files: environment.files,
    exec: (request) => environment.exec({ ...request, workspace }),
    close: () => environment.close(),
  };
}
