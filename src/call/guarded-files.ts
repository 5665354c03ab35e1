import type { Environment, EnvironmentFiles } from "../env/environment.js";
import { ToolError } from "../tool/errors.js";
import { type EffectKey, isInside } from "./effect-keys.js";

/**
 * The environment as one call may use it: it changes only the places it declared and was allowed to change.
 * Between the decision and the write a folder can be swapped for a link; the write then does not follow.
 */
export function guardedEnvironment(environment: Environment, keys: readonly EffectKey[]): Environment {
  const { files } = environment;
  const space = `file@${environment.name}`;
  const places = keys.filter((key) => key.space === space && key.write);
  const require = (path: string, real: string): string => {
    const allowed = places.some(
      ({ path: place }) => place === undefined || place === real || isInside(real, place),
    );
    if (allowed) return real;
    throw new ToolError(`${path} leads to ${real}, which this call was not allowed to change.`, {
      code: "denied",
      hint: "Another program is changing these folders. Look at them before you try again.",
    });
  };
  const entry = async (path: string): Promise<string> => {
    const folder = await files.realpath(dirnameOf(path));
    return require(path, `${folder.replace(/\/$/, "")}/${path.slice(path.lastIndexOf("/") + 1)}`);
  };
  const guarded: EnvironmentFiles = {
    resolve: (path, cwd) => files.resolve(path, cwd),
    realpath: (path) => files.realpath(path),
    stat: (path) => files.stat(path),
    list: (path) => files.list(path),
    read: (path, range) => files.read(path, range),
    stream: (path, range) => files.stream(path, range),
    // The judged place itself is used from here on: a link on the way to it may turn again.
    write: async (path, data, options) =>
      files.write(require(path, await files.realpath(path)), data, options),
    remove: async (path) => files.remove(await entry(path)),
    rename: async (from, to) => files.rename(await entry(from), await entry(to)),
  };
  return {
    name: environment.name,
    kind: environment.kind,
    files: guarded,
    exec: (request) => environment.exec(request),
    close: () => environment.close(),
  };
}

function dirnameOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}
