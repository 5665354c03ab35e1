/**
 * Node loader hooks for tool modules of people and projects. Only Node built-ins may be imported here: on
 * older Node versions this file runs alone in Node's loader thread, and from source it is loaded on its own.
 */

import { createHash, hash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type ts from "typescript6";

/** One running copy of this package, as its tool modules see it. */
export interface HookHost {
  /** Key under which the public exports are kept on `globalThis[Symbol.for(HOSTS_KEY)]`. */
  readonly id: string;
  readonly exportNames: readonly string[];
  readonly cacheDir: string;
  readonly typescriptPath: string;
}

export const HOSTS_KEY = "hermes-tools.hosts";

const PACKAGE = "hermes-tools";
const BRIDGE_SCHEME = `${PACKAGE}:`;

const hosts = new Map<string, HookHost>();

/** Called by Node in its loader thread, or directly where hooks run in the main thread. */
export function initialize(host: HookHost): void {
  hosts.set(host.id, host);
}

interface ResolveResult {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
type NextResolve<R> = (specifier: string, context: ResolveContext) => R;
interface ResolveContext {
  readonly parentURL?: string | undefined;
}

/** Hooks return what `next` returns, so the same function serves as asynchronous and as synchronous hook. */
export function resolve<R>(
  specifier: string,
  context: ResolveContext,
  next: NextResolve<R>,
): R | ResolveResult {
  const host = hostOf(context.parentURL);
  if (host === undefined || context.parentURL === undefined) return next(specifier, context);
  if (specifier === PACKAGE) {
    return { url: `${BRIDGE_SCHEME}${host.id}`, format: "module", shortCircuit: true };
  }
  if (!/^(?:\.{1,2}\/|\/|file:)/.test(specifier)) return next(specifier, context);
  const file = locate(fileURLToPath(new URL(specifier, context.parentURL)));
  if (file === undefined || isOfAnother(file, fileOf(context.parentURL))) return next(specifier, context);
  const pins = pinsIn(context.parentURL);
  if (!isHandled(file)) {
    assertPinned({ file, pins, host }, () => readFileSync(file));
    return next(specifier, context);
  }
  const version = versionOf(file);
  return { url: moduleUrl({ file, host: host.id, version, pins }), shortCircuit: true };
}

/** Where relative imports stand in a module's text. One too many, in a comment say, does no harm. */
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*["'`](\.{1,2}\/[^"'`\n]+)["'`]/g;

/**
 * A module and everything it reaches through relative imports, each with a hash of its text. A file that is not
 * there or cannot be read has the hash "".
 */
export function filesBehind(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    const text = textOf(path);
    found.set(path, text === undefined ? "" : hash("sha256", text, "base64url"));
    for (const [, specifier = ""] of text?.matchAll(RELATIVE_IMPORT) ?? []) {
      const target = locate(join(path, "..", specifier));
      if (target !== undefined && !isOfAnother(target, path) && isHandled(target)) visit(target);
    }
  };
  visit(file);
  return found;
}

/** The same as long as neither the module nor anything behind it changes, so that those who import it share it. */
function versionOf(file: string): string {
  const key = createHash("sha256");
  for (const [path, hash] of [...filesBehind(file)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    key.update(`${path}\0${hash}\0`);
  }
  return key.digest("hex").slice(0, 24);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

interface LoadResult {
  readonly format: string;
  readonly source: string;
  readonly shortCircuit: true;
}

export function load<C, R>(url: string, context: C, next: (url: string, context: C) => R): R | LoadResult {
  if (url.startsWith(BRIDGE_SCHEME)) {
    const bridged = hosts.get(url.slice(BRIDGE_SCHEME.length));
    if (bridged !== undefined) return { format: "module", source: bridgeSource(bridged), shortCircuit: true };
  }
  const host = hostOf(url);
  if (host === undefined) return next(url, context);
  const file = fileOf(url);
  if (!isHandled(file)) return next(url, context);
  const bytes = readFileSync(file);
  assertPinned({ file, pins: pinsIn(url), host }, () => bytes);
  const text = bytes.toString("utf8");
  const source = isTypeScript(file) ? transpile({ file, text, host }) : text;
  return { format: "module", source, shortCircuit: true };
}

/** The query ties a module to one copy of the package and makes a changed file a new module. */
export function moduleUrl(module: {
  readonly file: string;
  readonly host: string;
  readonly version: string;
  /** Names the list of what the module and those it imports must hold; see `keepPins`. */
  readonly pins?: string | undefined;
}): string {
  const pins = module.pins === undefined ? "" : `&pins=${module.pins}`;
  return `${pathToFileURL(module.file).href}?hermes=${module.host}&v=${module.version}${pins}`;
}

/** Path → SHA-256 of the content that may run. */
export type Pins = ReadonlyMap<string, string>;

const knownPins = new Map<string, Pins>();

/**
 * Writes the list to where these hooks find it, also from Node's loader thread, and answers with its name. The name
 * holds a hash of the list, so nobody can put another one in its place.
 */
export function keepPins(pins: Pins, place: { readonly cacheDir: string; readonly tag: string }): string {
  const text = JSON.stringify([...pins]);
  const name = `${place.tag}-${hash("sha256", text, "hex")}`;
  mkdirSync(join(place.cacheDir, "pins"), { recursive: true, mode: 0o700 });
  writeFileSync(pinsPath(place.cacheDir, name), text, { mode: 0o600 });
  return name;
}

export function pinsPath(cacheDir: string, name: string): string {
  return join(cacheDir, "pins", `${name}.json`);
}

/** Remembered from the first module on: the file is needed only until that one is loaded. */
function pinsNamed(name: string, host: HookHost): Pins {
  const known = knownPins.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(pinsPath(host.cacheDir, name), "utf8");
  if (!name.endsWith(`-${hash("sha256", text, "hex")}`))
    throw new Error("the list of confirmed files was changed");
  const pins: Pins = new Map(JSON.parse(text) as [string, string][]);
  knownPins.set(name, pins);
  return pins;
}

/** What was checked is what runs: nobody may put another text in its place in between. */
function assertPinned(
  module: { readonly file: string; readonly pins: string | undefined; readonly host: HookHost },
  content: () => Uint8Array,
): void {
  if (module.pins === undefined) return;
  const pins = pinsNamed(module.pins, module.host);
  const confirmed = pins.get(module.file) ?? pins.get(realpathSync(module.file));
  if (confirmed === undefined) throw new Error(`${module.file} is not among the files that were confirmed`);
  if (confirmed !== hash("sha256", content(), "hex"))
    throw new Error(`${module.file} has changed since it was confirmed`);
}

function pinsIn(url: string): string | undefined {
  return /^file:[^?]*\?hermes=[^#]*&pins=([\w-]+)/.exec(url)?.[1];
}

/** Where the JavaScript of a TypeScript source is kept; same text and same compiler, same place. */
export function transpiledPath(source: {
  readonly file: string;
  readonly text: string;
  readonly cacheDir: string;
  readonly typescriptVersion: string;
}): string {
  const key = createHash("sha256");
  // The source map inside names the file, so the name is part of what was made.
  for (const part of [source.typescriptVersion, basename(source.file), source.text]) key.update(`${part}\0`);
  return join(source.cacheDir, "transpiled", `${key.digest("hex")}.js`);
}

/** Read from its package.json, because loading the compiler only to ask it costs 300 ms. */
export function typescriptVersionAt(typescriptPath: string): string {
  const text = readFileSync(join(typescriptPath, "..", "..", "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function hostOf(url: string | undefined): HookHost | undefined {
  const id = url === undefined ? undefined : /^file:[^?]*\?hermes=([^&]*)/.exec(url)?.[1];
  return id === undefined ? undefined : hosts.get(id);
}

function fileOf(url: string): string {
  return fileURLToPath(url.replace(/[?#].*$/s, ""));
}

function isTypeScript(file: string): boolean {
  return /\.m?ts$/.test(file);
}

function isHandled(file: string): boolean {
  return /\.m?[jt]s$/.test(file);
}

/** An installed package keeps to itself, unless it is the one that is being loaded: a plugin from npm. */
function isOfAnother(file: string, importer: string): boolean {
  const installed = /[\\/]node_modules[\\/]/;
  return installed.test(file) && !installed.test(importer);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** TypeScript authors write `./x.js` or `./x` for a sibling `x.ts`. */
function locate(path: string): string | undefined {
  const extension = extname(path);
  const asTypeScript = { ".js": ".ts", ".mjs": ".mts" }[extension];
  const candidates = [path];
  if (asTypeScript !== undefined) candidates.push(`${path.slice(0, -extension.length)}${asTypeScript}`);
  for (const suffix of [".ts", ".js", ".mjs"]) candidates.push(path + suffix);
  for (const index of ["index.ts", "index.js"]) candidates.push(join(path, index));
  return candidates.find(isFile);
}

/**
 * Re-exports the copy of the package that is running, so that a tool module shares its registry wherever
 * that copy lives: an installed package, a bundle, or source under a test runner.
 */
function bridgeSource(host: HookHost): string {
  const names = host.exportNames.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  return `export const { ${names.join(", ")} } = globalThis[Symbol.for("${HOSTS_KEY}")].get(${JSON.stringify(host.id)});`;
}

function transpile({ file, text, host }: { file: string; text: string; host: HookHost }): string {
  const kept = transpiledPath({
    file,
    text,
    cacheDir: host.cacheDir,
    typescriptVersion: typescriptVersionAt(host.typescriptPath),
  });
  try {
    return readFileSync(kept, "utf8");
  } catch {
    // Not there yet.
  }
  const compiler = createRequire(host.typescriptPath)(host.typescriptPath) as typeof ts;
  const output = compiler.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: compiler.ScriptTarget.ES2022,
      module: compiler.ModuleKind.ESNext,
      inlineSourceMap: true,
    },
  });
  const problem = output.diagnostics?.[0];
  if (problem !== undefined) {
    const message = compiler.flattenDiagnosticMessageText(problem.messageText, " ");
    const position = problem.file?.getLineAndCharacterOfPosition(problem.start ?? 0);
    throw new SyntaxError(`${message} (${file}${position === undefined ? "" : `:${position.line + 1}`})`);
  }
  keep(kept, output.outputText);
  return output.outputText;
}

/** A cache that cannot be written only costs time. */
function keep(path: string, text: string): void {
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    const partial = `${path}.${process.pid}.${process.hrtime.bigint()}`;
    writeFileSync(partial, text, { mode: 0o600 });
    renameSync(partial, path);
  } catch {
    // The next start transpiles again.
  }
}
