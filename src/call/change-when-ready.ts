import type { Environment } from "../env/environment.js";
import { delegateEnvironment } from "./delegate-environment.js";

/** The same environment, in which nothing is changed or started before `ready`. */
export function changeWhenReady(environment: Environment, ready: Promise<unknown>): Environment {
  const { files } = environment;
  return delegateEnvironment(environment, {
    files: {
      resolve: (path, cwd) => files.resolve(path, cwd),
      realpath: (path) => files.realpath(path),
      stat: (path) => files.stat(path),
      list: (path, options) => files.list(path, options),
      read: (path, range) => files.read(path, range),
      stream: (path, range) => files.stream(path, range),
      watch: (path, options) => files.watch(path, options),
      write: (path, data, options) => ready.then(() => files.write(path, data, options)),
      remove: (path) => ready.then(() => files.remove(path)),
      rename: (from, to) => ready.then(() => files.rename(from, to)),
    },
    exec: execWhenReady(environment, ready),
    spawn: (request) => ready.then(() => environment.spawn(request)),
    push: (transfer) => ready.then(() => environment.push(transfer)),
  });
}

/** Where the environment can, it gets the command ready meanwhile. */
export function execWhenReady(environment: Environment, ready: Promise<unknown>): Environment["exec"] {
  return environment.waitsForReady === true
    ? (request) => environment.exec({ ...request, ready })
    : (request) => ready.then(() => environment.exec(request));
}
