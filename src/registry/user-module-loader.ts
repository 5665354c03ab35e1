import { existsSync, readFileSync, rmSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { HOSTS_KEY, type HookHost, keepPins, moduleUrl, type Pins, pinsPath } from "./user-module-hooks.js";
import { loadTypeScript, typeScriptPath } from "./user-module-typescript.js";

export interface UserModuleLoader {
  /** Imports the file anew: a later call runs its top level again. */
  importFresh(file: string, version: string, options?: ImportOptions): Promise<ModuleNamespace>;
}

export interface ImportOptions {
  /** What the module and those it imports by path must hold; anything else is not run. */
  readonly pins?: Pins | undefined;
  /** Told how long the top level, with those of its imports, held the event loop, in milliseconds. */
  onHeld?(heldMs: number): void;
}

export type ModuleNamespace = Readonly<Record<string, unknown>>;

export interface LoaderOptions {
  /** The exports that `import … from "hermes-tools"` gives to a tool module. */
  readonly publicApi: () => Promise<ModuleNamespace>;
  readonly cacheDir: string;
}

type Hooks = Pick<typeof import("./user-module-hooks.js"), "initialize" | "resolve" | "load">;
/** Node 22.15 and later run hooks in the main thread; earlier versions only know the loader thread. */
type RegisterHooks = (hooks: Pick<Hooks, "resolve" | "load">) => void;
const registerHooks = (nodeModule as { readonly registerHooks?: RegisterHooks }).registerHooks;

const loaders = new Map<string, Promise<UserModuleLoader>>();
let imports = 0;
let hooksInMainThread = false;

/** One loader per cache folder and process: Node cannot take hooks back. */
export function userModuleLoader(options: LoaderOptions): Promise<UserModuleLoader> {
  const known = loaders.get(options.cacheDir);
  if (known !== undefined) return known;
  const loader = installLoader(options);
  loaders.set(options.cacheDir, loader);
  loader.catch(() => loaders.delete(options.cacheDir));
  return loader;
}

async function installLoader({ publicApi, cacheDir }: LoaderOptions): Promise<UserModuleLoader> {
  const api = await publicApi();
  const running = runningHosts();
  const host: HookHost = {
    id: String(running.size),
    exportNames: Object.keys(api),
    cacheDir,
    typescriptPath: typeScriptPath(),
  };
  running.set(host.id, api);
  const nativeImport = await importOutsideBundler();
  const hooksUrl = locateHooks();
  if (registerHooks === undefined) {
    nodeModule.register(hooksUrl, { data: host });
  } else {
    const hooks = (await nativeImport(hooksUrl)) as unknown as Hooks;
    hooks.initialize(host);
    if (!hooksInMainThread) registerHooks({ resolve: hooks.resolve, load: hooks.load });
    hooksInMainThread = true;
  }
  return {
    async importFresh(file, version, { pins, onHeld } = {}) {
      imports += 1;
      const tag = `${process.pid}-${host.id}-${imports}`;
      const kept = pins && keepPins(pins, { cacheDir, tag });
      const module = { file, host: host.id, version: `${version}-${imports}`, pins: kept };
      try {
        const url = moduleUrl(module);
        return await (onHeld === undefined
          ? nativeImport(url)
          : timedImport(nativeImport, { url, tag, onHeld }));
      } finally {
        if (kept !== undefined) rmSync(pinsPath(cacheDir, kept), { force: true });
      }
    },
  };
}

const MARKS_KEY = "hermes-tools.marks";

/**
 * Modules beside each other are evaluated in one go and in order, so a mark before and one behind the module take the
 * time of nothing else. Behind an `await` at the top level the second one comes at once: what is awaited holds nobody.
 */
async function timedImport(
  nativeImport: NativeImport,
  asked: { readonly url: string; readonly tag: string; onHeld(heldMs: number): void },
): Promise<ModuleNamespace> {
  const marks = onGlobal<Map<string, () => void>>(MARKS_KEY, () => new Map());
  const times: number[] = [];
  const mark = (which: string) => {
    marks.set(`${which}-${asked.tag}`, () => void times.push(performance.now()));
    return javascript(`globalThis[Symbol.for("${MARKS_KEY}")].get("${which}-${asked.tag}")();`);
  };
  const lines = [
    `import ${JSON.stringify(mark("before"))};`,
    `import * as module from ${JSON.stringify(asked.url)};`,
    `import ${JSON.stringify(mark("behind"))};`,
    "export { module };",
  ];
  try {
    return (await nativeImport(javascript(lines.join("\n")))).module as ModuleNamespace;
  } finally {
    const [before, behind = performance.now()] = times;
    if (before !== undefined) asked.onHeld(behind - before);
    for (const which of ["before", "behind"]) marks.delete(`${which}-${asked.tag}`);
  }
}

function javascript(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}

/** On `globalThis`, because tool modules reach it from outside the bundle; one slot per running copy. */
function runningHosts(): Map<string, ModuleNamespace> {
  return onGlobal(HOSTS_KEY, () => new Map<string, ModuleNamespace>());
}

function onGlobal<Value>(name: string, make: () => Value): Value {
  const key = Symbol.for(name);
  const holder = globalThis as { [key: symbol]: Value | undefined };
  holder[key] ??= make();
  return holder[key];
}

type NativeImport = (url: string) => Promise<ModuleNamespace>;

const NATIVE_IMPORT_MODULE: string = "data:text/javascript,export default (url) => import(url)";

/** Test runners rewrite `import()` in the code they load; a module from a data URL keeps Node's own. */
async function importOutsideBundler(): Promise<NativeImport> {
  const module = (await import(NATIVE_IMPORT_MODULE)) as {
    readonly default: NativeImport;
  };
  return module.default;
}

/** The built file, next to wherever the bundler put this code; from source, the file transpiled in memory. */
function locateHooks(): string {
  for (const place of ["./", "./registry/", "../registry/", "../../registry/"]) {
    const url = new URL(`${place}user-module-hooks.js`, import.meta.url);
    if (existsSync(url)) return url.href;
  }
  const source = fileURLToPath(new URL("./user-module-hooks.ts", import.meta.url));
  const ts = loadTypeScript();
  const { outputText } = ts.transpileModule(readFileSync(source, "utf8"), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  return javascript(outputText);
}
