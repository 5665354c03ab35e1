import { ToolError } from "../../tool/errors.js";
import type { EnvironmentFiles } from "../environment.js";

/** How the names that one session uses lead to where its files lie. */
export interface SessionNames {
  at(path: string): Promise<string>;
  /** The name for a place; texts may hold more than one. */
  named(text: string): string;
}

/** Files as the commands of one session see them: its temporary folders are its own. */
export function sessionFiles(files: EnvironmentFiles, { at, named }: SessionNames): EnvironmentFiles {
  const told = async <T>(path: string, work: (place: string) => Promise<T>): Promise<T> => {
    try {
      return await work(await at(path));
    } catch (error) {
      throw renamed(error, named);
    }
  };
  const { writeWhenReady, keepAside } = files;
  return {
    resolve: files.resolve,
    realpath: async (path) => named(await told(path, (place) => files.realpath(place))),
    stat: (path) => told(path, (place) => files.stat(place)),
    list: async (path, options) => {
      const entries = await told(path, (place) => files.list(place, options));
      return entries.map((entry) =>
        entry.target === undefined ? entry : { ...entry, target: named(entry.target) },
      );
    },
    read: (path, range) => told(path, (place) => files.read(place, range)),
    async *stream(path, range) {
      yield* files.stream(await at(path), range);
    },
    write: (path, data, options) => told(path, (place) => files.write(place, data, options)),
    ...(writeWhenReady !== undefined && {
      writeWhenReady: (path, data, options) => told(path, (place) => writeWhenReady(place, data, options)),
    }),
    ...(keepAside !== undefined && {
      keepAside: (path, copy) => told(path, (place) => keepAside(place, copy)),
    }),
    remove: (path) => told(path, (place) => files.remove(place)),
    rename: (from, to) => told(from, async (place) => files.rename(place, await at(to))),
    async *watch(path, options) {
      for await (const change of files.watch(await at(path), options)) {
        yield { ...change, path: named(change.path) };
      }
    },
  };
}

/** Where the folder really lies means nothing to whoever reads the error. */
function renamed(error: unknown, named: SessionNames["named"]): unknown {
  if (!ToolError.isInstance(error) || named(error.message) === error.message) return error;
  const { code, hint, details, cause } = error;
  return new ToolError(named(error.message), {
    code,
    hint: hint === undefined ? undefined : named(hint),
    details: details === undefined ? undefined : { ...details },
    cause,
  });
}
