import { existsSync, readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { HOSTS_KEY, type HookHost, moduleUrl } from "./user-module-hooks.js";
import { loadTypeScript, typeScriptPath } from "./user-module-typescript.js";

export interface UserModuleLoader {
  /** Imports the file anew: a later call runs its top level again. */
  importFresh(file: string, version: string): Promise<ModuleNamespace>;
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
    importFresh: (file, version) => {
      imports += 1;
      return nativeImport(moduleUrl({ file, host: host.id, version: `${version}-${imports}` }));
    },
  };
}

/** On `globalThis`, because tool modules reach it from outside the bundle; one slot per running copy. */
function runningHosts(): Map<string, ModuleNamespace> {
  const key = Symbol.for(HOSTS_KEY);
  const holder = globalThis as { [key: symbol]: Map<string, ModuleNamespace> | undefined };
  holder[key] ??= new Map();
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
  return `data:text/javascript,${encodeURIComponent(outputText)}`;
}
