import {
  closeSync,
  existsSync,
  constants as fileConstants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

/** A compiled chunk in the cache file: of which source, and where it lies. */
interface Kept {
  readonly size: number;
  readonly mtimeMs: number;
  readonly offset: number;
  readonly length: number;
}

interface Loaded {
  readonly module: { exports: unknown };
  readonly script: Script;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * What a chunk's code finds around it. A script made by hand has no `import()`, and `performance` would load more than a
 * clock: the build writes `__import` and `__now` for them.
 */
const PARAMETERS = "exports,require,module,__filename,__dirname,__import,__now";

/** Milliseconds of a clock that only goes forward. */
function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** The file begins with the length of its list. */
const HEAD_BYTES = 4;

/** Flags that stand before a command and take a value. */
const TAKES_VALUE = /^(?:--home|--profile|-t|--toolsets|--env|--timeout)$/;

/**
 * Loads the files beside it (`chunks/`) and keeps what the JavaScript engine made of them, one cache file per command:
 * parsing and compiling is most of a short command's time, and finding files the way `require` does is much of the
 * rest. The engine itself refuses a cache of another version or other flags. It does not compare the source with the
 * cache, so that is done here: by the name, which carries a hash of the content, by size and by time of change.
 *
 * A cache is code. It lies inside the package, so whoever can change it can change the package as well; one that
 * belongs to somebody else, or that others may write to, is not read.
 */
export class ChunkLoader {
  readonly #chunks: string;
  readonly #folder: string;
  readonly #require: NodeJS.Require;
  readonly #importModule: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
  readonly #loaded = new Map<string, Loaded>();
  readonly #kept = new Map<string, Kept>();
  #handle: number | undefined;
  /** Where the compiled chunks begin, behind the list of them. */
  #start = 0;
  #complete = true;

  constructor(options: {
    readonly dist: string;
    readonly require: NodeJS.Require;
    readonly importModule: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
    readonly argv: readonly string[];
  }) {
    this.#chunks = join(options.dist, "chunks");
    this.#require = options.require;
    this.#importModule = options.importModule;
    this.#folder = join(options.dist, ".cache");
    const word = commandOf(options.argv);
    if (word === undefined) return;
    const file = join(this.#folder, `${process.versions.v8}-${process.arch}-${word}`);
    this.#open(file);
    process.once("exit", (code) => {
      if (code === 0 && !this.#complete) this.#save(file);
    });
  }

  load(name: string): unknown {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known.module.exports;
    const path = join(this.#chunks, name);
    const source = readFileSync(path, "utf8");
    const { size, mtimeMs } = statSync(path);
    const cachedData = this.#cached(name, { size, mtimeMs });
    const script = new Script(`(function(${PARAMETERS}){${source}\n})`, { filename: path, cachedData });
    if (cachedData === undefined || script.cachedDataRejected === true) this.#complete = false;
    const module = { exports: {} };
    this.#loaded.set(name, { module, script, size, mtimeMs });
    const run = script.runInThisContext() as (...parts: readonly unknown[]) => void;
    run(module.exports, this.#requireFrom, module, path, this.#chunks, this.#importModule, now);
    return module.exports;
  }

  /** Chunks ask for each other by `./name.js`; everything else is a package or part of Node. */
  readonly #requireFrom = (name: string): unknown =>
    name.startsWith("./") ? this.load(name.slice(2)) : this.#require(name);

  #cached(name: string, now: Pick<Stats, "size" | "mtimeMs">): Buffer | undefined {
    const kept = this.#kept.get(name);
    if (this.#handle === undefined || kept === undefined) return undefined;
    if (kept.size !== now.size || kept.mtimeMs !== now.mtimeMs) return undefined;
    const data = Buffer.allocUnsafe(kept.length);
    return readSync(this.#handle, data, 0, kept.length, this.#start + kept.offset) === kept.length
      ? data
      : undefined;
  }

  #open(file: string): void {
    try {
      if (!isOurs(lstatSync(this.#folder))) return;
      this.#handle = openSync(file, fileConstants.O_RDONLY | (fileConstants.O_NOFOLLOW ?? 0));
      const stats = fstatSync(this.#handle);
      if (!isOurs(stats)) throw new Error("not ours");
      const length = Buffer.alloc(HEAD_BYTES);
      readSync(this.#handle, length, 0, HEAD_BYTES, 0);
      const head = Buffer.alloc(Math.min(length.readUInt32LE(), stats.size));
      readSync(this.#handle, head, 0, head.length, HEAD_BYTES);
      this.#start = HEAD_BYTES + head.length;
      const entries = JSON.parse(head.toString("utf8")) as readonly [string, Kept][];
      for (const [name, kept] of entries) this.#kept.set(name, kept);
    } catch {
      // Without a cache everything works, only slower.
      if (this.#handle !== undefined) closeSync(this.#handle);
      this.#handle = undefined;
    }
  }

  /** What was loaded now, and what an earlier run of the command had loaded: its runs differ in a few chunks. */
  #save(file: string): void {
    try {
      const head: [string, Kept][] = [];
      const parts: Buffer[] = [];
      let end = 0;
      const add = (name: string, of: Pick<Stats, "size" | "mtimeMs">, data: Buffer) => {
        head.push([name, { size: of.size, mtimeMs: of.mtimeMs, offset: end, length: data.length }]);
        parts.push(data);
        end += data.length;
      };
      for (const [name, kept] of this.#kept) {
        const data = this.#loaded.has(name) ? undefined : this.#cached(name, kept);
        if (data !== undefined && existsSync(join(this.#chunks, name))) add(name, kept, data);
      }
      for (const [name, loaded] of this.#loaded) add(name, loaded, loaded.script.createCachedData());
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const text = Buffer.from(JSON.stringify(head));
      const length = Buffer.alloc(HEAD_BYTES);
      length.writeUInt32LE(text.length);
      writeFileSync(`${file}.${process.pid}`, Buffer.concat([length, text, ...parts]), { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // A package that cannot be written to has no cache.
    }
  }
}

/** The command a line begins with, when it can be told without knowing the commands. */
function commandOf(argv: readonly string[]): string | undefined {
  const word = argv.find((one, index) => !one.startsWith("-") && !TAKES_VALUE.test(argv[index - 1] ?? ""));
  return word !== undefined && /^[a-z]{1,20}$/.test(word) ? word : undefined;
}

function isOurs({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
