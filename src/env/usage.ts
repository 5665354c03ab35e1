import { delegateEnvironment } from "../call/delegate-environment.js";
import type { Environment, EnvironmentFiles, RunningProcess } from "./environment.js";

/** How an environment is being used, so that one that nobody uses can be stopped. */
export interface Usage {
  /** Commands, transfers and started programs that have not ended. */
  readonly active: number;
  /** Milliseconds since 1970. */
  readonly lastUsed: number;
}

/** The same environment, with a note of each use. */
export function withUsage(environment: Environment): {
  readonly environment: Environment;
  readonly usage: Usage;
} {
  const usage = { active: 0, lastUsed: Date.now() };
  const done = () => {
    usage.active -= 1;
    usage.lastUsed = Date.now();
  };
  async function during<T>(work: () => Promise<T>): Promise<T> {
    usage.active += 1;
    try {
      return await work();
    } finally {
      done();
    }
  }
  async function* whileRead<T>(source: AsyncIterable<T>): AsyncIterable<T> {
    usage.active += 1;
    try {
      yield* source;
    } finally {
      done();
    }
  }
  const noted = (files: EnvironmentFiles): EnvironmentFiles => {
    const { look, until } = files;
    return {
      resolve: (path, cwd) => files.resolve(path, cwd),
      realpath: (path) => during(() => files.realpath(path)),
      stat: (path) => during(() => files.stat(path)),
      list: (path, options) => during(() => files.list(path, options)),
      ...(look && { look: (path, options) => during(() => look.call(files, path, options)) }),
      ...(until && { until: (signal) => noted(until.call(files, signal)) }),
      read: (path, range) => during(() => files.read(path, range)),
      stream: (path, range) => whileRead(files.stream(path, range)),
      write: (path, data, options) => during(() => files.write(path, data, options)),
      remove: (path) => during(() => files.remove(path)),
      rename: (from, to) => during(() => files.rename(from, to)),
      watch: (path, options) => whileRead(files.watch(path, options)),
    };
  };
  const { snapshot } = environment;
  return {
    usage,
    environment: delegateEnvironment(environment, {
      files: noted(environment.files),
      exec: (request) => during(() => environment.exec(request)),
      async spawn(request): Promise<RunningProcess> {
        usage.active += 1;
        try {
          const running = await environment.spawn(request);
          void running.ended.then(done);
          return running;
        } catch (error) {
          done();
          throw error;
        }
      },
      fetch: (transfer) => during(() => environment.fetch(transfer)),
      push: (transfer) => during(() => environment.push(transfer)),
      snapshot: snapshot && (() => during(() => snapshot.call(environment))),
    }),
  };
}
