import { isAtOrBelow } from "../base/path.js";
import type { Environment, EnvironmentFiles, FileLook, ReadRange } from "../env/environment.js";
import { ToolError } from "../tool/errors.js";
import { execWhenReady } from "./change-when-ready.js";
import { delegateEnvironment } from "./delegate-environment.js";
import type { EffectKey } from "./effect-keys.js";
import type { ChangeRecorder, PlannedChange } from "./file-changes.js";

/**
 * The environment as one call may use it: it changes only the places it declared and was allowed to change.
 * Between the decision and the write a folder can be swapped for a link; the write then does not follow.
 */
export function guardedEnvironment(
  environment: Environment,
  call: {
    readonly keys: readonly EffectKey[];
    readonly recorder?: ChangeRecorder | undefined;
    /** Nothing may be changed before this. */
    readonly ready?: Promise<unknown> | undefined;
    /** Ends what the call has asked of files elsewhere; looked at only where somebody may have to wait. */
    signal?(): AbortSignal;
  },
): Environment {
  const { keys, recorder, ready = done, signal } = call;
  const own = environment.files;
  const bound = signal === undefined ? own : (own.until?.(signal()) ?? own);
  const space = `file@${environment.name}`;
  const readable = keys.filter((key) => key.space === space);
  const { files, forRecord } = withLooks(bound, (path) => readable.some((key) => key.path === path));
  const recorded = <T>(
    change: PlannedChange,
    make: (mayHappen: Promise<unknown>) => Promise<T>,
  ): Promise<T> =>
    recorder === undefined ? make(ready) : recorder.record(change, { files: forRecord, ready, make });
  const places = readable.filter((key) => key.write);
  const require = (path: string, real: string): string => {
    if (covers(places, real)) return real;
    throw notAllowed({ path, real, what: "change" });
  };
  /** The judged place itself; only another one has to be looked up. */
  const judgedRead = async (path: string): Promise<string> => {
    if (readable.some((key) => key.path === path)) return path;
    const real = await files.realpath(path);
    if (covers(readable, real)) return real;
    throw notAllowed({ path, real, what: "read" });
  };
  const entry = async (path: string): Promise<string> => {
    const folder = await files.realpath(dirnameOf(path));
    return require(path, `${folder.replace(/\/$/, "")}/${path.slice(path.lastIndexOf("/") + 1)}`);
  };
  const guarded: EnvironmentFiles = {
    resolve: (path, cwd) => files.resolve(path, cwd),
    // What was judged is what is used.
    realpath: async (path) => readable.find(({ name }) => name === path)?.path ?? files.realpath(path),
    stat: (path) => files.stat(path),
    list: (path, options) => files.list(path, options),
    read: async (path, range) => files.read(await judgedRead(path), { ...range, real: true }),
    async *stream(path, range) {
      yield* files.stream(await judgedRead(path), { ...range, real: true });
    },
    // The judged place itself is used from here on: a link on the way to it may turn again.
    write: async (path, data, options) => {
      const judged = places.some((key) => key.path === path);
      const real = judged ? path : require(path, await files.realpath(path));
      return recorded({ kind: "write", path: real, data }, (mayHappen) =>
        files.writeWhenReady === undefined
          ? mayHappen.then(() => files.write(real, data, options))
          : files.writeWhenReady(real, data, { ...options, ready: mayHappen }),
      );
    },
    remove: async (path) => {
      const real = await entry(path);
      return recorded({ kind: "remove", path: real }, (mayHappen) =>
        mayHappen.then(() => files.remove(real)),
      );
    },
    rename: async (from, to) => {
      const [path, target] = [await entry(from), await entry(to)];
      return recorded({ kind: "rename", path, target }, (mayHappen) =>
        mayHappen.then(() => files.rename(path, target)),
      );
    },
    async *watch(path, options) {
      yield* files.watch(await judgedRead(path), options);
    },
  };
  return delegateEnvironment(environment, {
    files: guarded,
    exec: execWhenReady(environment, ready),
    spawn: (request) => ready.then(() => environment.spawn(request)),
    fetch: async (transfer) => environment.fetch({ ...transfer, from: await judgedRead(transfer.from) }),
    push: async (transfer) => {
      const to = require(transfer.to, await files.realpath(transfer.to));
      await ready;
      return environment.push({ ...transfer, to });
    },
  });
}

const done = Promise.resolve();

function covers(places: readonly EffectKey[], real: string): boolean {
  return places.some(({ path }) => path === undefined || isAtOrBelow(real, path));
}

function notAllowed(found: { path: string; real: string; what: "read" | "change" }): ToolError {
  return new ToolError(
    `${found.path} leads to ${found.real}, which this call was not allowed to ${found.what}.`,
    {
      code: "denied",
      hint: "Another program is changing these folders. Look at them before you try again.",
    },
  );
}

function dirnameOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

/** A file elsewhere of at most this size is fetched together with its facts. */
const MAX_LOOK_BYTES = 4 * 1024 * 1024;
/** What was seen counts this long for the same call, which asks for a file's facts and then for its content. */
const LOOK_MS = 2_000;

/**
 * Files elsewhere cost a round trip for each question. Of the files a call has declared, facts and content are asked
 * for at once, and the second question is answered from the first. Who reads a file again wants to know what it holds
 * now, and any change by the call makes it ask again; `forRecord` keeps what the call has seen.
 */
function withLooks(
  files: EnvironmentFiles,
  isDeclared: (path: string) => boolean,
): { readonly files: EnvironmentFiles; readonly forRecord: EnvironmentFiles } {
  const { look } = files;
  if (look === undefined) return { files, forRecord: files };
  const read = new Set<string>();
  const seen = new Map<string, { readonly found: Promise<FileLook | undefined>; readonly at: number }>();
  const lookAt = (path: string): Promise<FileLook | undefined> => {
    const known = seen.get(path);
    if (known !== undefined && performance.now() - known.at < LOOK_MS) return known.found;
    const found = look(path, { maxBytes: MAX_LOOK_BYTES });
    seen.set(path, { found, at: Number.POSITIVE_INFINITY });
    // A change that came in between has made the call forget it.
    const isWanted = () => seen.get(path)?.found === found;
    void found.then(
      () => isWanted() && seen.set(path, { found, at: performance.now() }),
      () => isWanted() && seen.delete(path),
    );
    return found;
  };
  const bytesOf = async (path: string, range: ReadRange | undefined): Promise<Uint8Array | undefined> => {
    const bytes = seen.has(path) ? (await lookAt(path))?.bytes : undefined;
    return bytes?.subarray(range?.start ?? 0, range?.end);
  };
  const bytesOnce = (path: string, range: ReadRange | undefined) => {
    if (read.has(path)) return undefined;
    read.add(path);
    return bytesOf(path, range);
  };
  const changing = <T>(change: Promise<T>): Promise<T> => {
    seen.clear();
    return change.finally(() => seen.clear());
  };
  const stat = async (path: string) => (isDeclared(path) ? (await lookAt(path))?.stat : files.stat(path));
  const forRecord: EnvironmentFiles = {
    ...files,
    stat,
    read: async (path, range) => (await bytesOf(path, range)) ?? files.read(path, range),
  };
  const forCall: EnvironmentFiles = {
    ...files,
    stat,
    read: async (path, range) => (await bytesOnce(path, range)) ?? files.read(path, range),
    async *stream(path, range) {
      const bytes = await bytesOnce(path, range);
      if (bytes === undefined) yield* files.stream(path, range);
      else yield bytes;
    },
    write: (path, data, options) => changing(files.write(path, data, options)),
    remove: (path) => changing(files.remove(path)),
    rename: (from, to) => changing(files.rename(from, to)),
  };
  return { files: forCall, forRecord };
}
