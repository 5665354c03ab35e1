import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../base/atomic-write.js";
import { LATE, within } from "../base/deadline.js";
import { isRecord } from "../base/record.js";
import { type ModuleVerdict, SCAN_RULES_VERSION, scanModule } from "./scan-module.js";
import { describeImportError } from "./user-module-errors.js";
import { listToolFiles, type ToolFile, type ToolFolder, type ToolFolderOrigin } from "./user-module-files.js";
import { type ModuleNamespace, userModuleLoader } from "./user-module-loader.js";

export { type ToolFolder, type ToolFolderOrigin, toolFolders } from "./user-module-files.js";

/** A module whose top level registers tools. */
export interface UserModule {
  readonly file: string;
  /** The tools folder it was found in. */
  readonly folder: string;
  readonly origin: ToolFolderOrigin;
}

export interface DiscoveryProblem {
  readonly file: string;
  readonly origin: ToolFolderOrigin;
  readonly stage: "read" | "parse" | "import" | "register";
  readonly message: string;
  readonly line?: number | undefined;
  /** What the module threw, with its stack. */
  readonly stack?: string | undefined;
}

export interface DiscoveryReport {
  readonly loaded: readonly UserModule[];
  /** Modules without a top-level registration: not imported. */
  readonly helpers: readonly string[];
  readonly problems: readonly DiscoveryProblem[];
}

export interface DiscoveryOptions {
  /** Scanned in this order; project folders must be left out until the person trusts the project. */
  readonly folders: readonly ToolFolder[];
  /** Keeps verdicts and transpiled code, so it must be as protected as the tools themselves. */
  readonly cacheDir: string;
  /** Registers what a module exports; what its top level registered itself is already done. */
  register(module: ModuleNamespace, info: UserModule): unknown;
  /** Wraps each import, so that top-level `registry.register` calls reach the right registry. */
  around?(info: UserModule, load: () => Promise<ModuleNamespace>): Promise<ModuleNamespace>;
  /** What `import … from "hermes-tools"` means to the modules; this package's exports unless told. */
  readonly publicApi?: () => Promise<ModuleNamespace>;
  /** Load this one file of the folders and leave the others alone. */
  readonly only?: string | undefined;
  /** True for a module that is loaded in exactly the version that lies there: it is left alone. */
  isCurrent?(info: UserModule): boolean;
  /** How long the top level of one module may take. */
  readonly deadlineMs?: number | undefined;
}

const DEFAULT_DEADLINE_MS = 10_000;

/** Finds, imports and registers tool modules one after another. One that fails never stops the others. */
export async function discoverUserTools(options: DiscoveryOptions): Promise<DiscoveryReport> {
  const problems: DiscoveryProblem[] = [];
  const { tools, helpers } = await sortModules(options, problems);
  const loaded: UserModule[] = [];
  for (const tool of tools) {
    const info: UserModule = { file: tool.file, folder: tool.folder, origin: tool.origin };
    if (options.isCurrent?.(info) === true) continue;
    const problem = await loadModule({ tool, info, options });
    if (problem === undefined) loaded.push(info);
    else problems.push(problem);
  }
  return { loaded, helpers, problems };
}

async function sortModules(
  { folders, cacheDir, only }: DiscoveryOptions,
  problems: DiscoveryProblem[],
): Promise<{ readonly tools: readonly ToolFile[]; readonly helpers: readonly string[] }> {
  const tools: ToolFile[] = [];
  const helpers: string[] = [];
  const verdicts = await VerdictCache.open(cacheDir);
  for (const folder of folders) {
    const { files, unreadable } = await listToolFiles(folder);
    for (const found of unreadable) problems.push({ ...found, stage: "read" });
    for (const tool of files) {
      const { file, origin } = tool;
      if (only !== undefined && file !== only) continue;
      try {
        const verdict = await verdicts.verdictOf(tool);
        if (verdict.kind === "tool") tools.push(tool);
        else if (verdict.kind === "helper") helpers.push(file);
        else problems.push({ file, origin, stage: "parse", message: verdict.message, line: verdict.line });
      } catch (error) {
        problems.push({ file, origin, stage: "read", message: String(error) });
      }
    }
  }
  await verdicts.save();
  return { tools, helpers };
}

async function loadModule(module: {
  readonly tool: ToolFile;
  readonly info: UserModule;
  readonly options: DiscoveryOptions;
}): Promise<DiscoveryProblem | undefined> {
  const { tool, info, options } = module;
  const { file, origin } = info;
  const problem = (stage: "import" | "register", error: unknown): DiscoveryProblem => ({
    file,
    origin,
    stage,
    stack: error instanceof Error ? error.stack : undefined,
    ...describeImportError(error, { file, cacheDir: options.cacheDir }),
  });
  const around = options.around ?? ((_info, load) => load());
  let namespace: ModuleNamespace;
  try {
    const loader = await userModuleLoader({
      publicApi: options.publicApi ?? (() => import("../index.js")),
      cacheDir: options.cacheDir,
    });
    namespace = await around(info, () =>
      importInTime(loader.importFresh(file, fileVersion(tool)), options.deadlineMs ?? DEFAULT_DEADLINE_MS),
    );
  } catch (error) {
    return problem("import", error);
  }
  try {
    await options.register(namespace, info);
    return undefined;
  } catch (error) {
    return problem("register", error);
  }
}

/** An import cannot be cancelled; after the deadline its outcome is only ignored. */
async function importInTime<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const module = await within(work, deadlineMs);
  if (module !== LATE) return module;
  throw new Error(
    `the top level did not finish within ${deadlineMs / 1000} s; move slow work into the handler or checkFn`,
  );
}

interface KeptVerdict {
  readonly version: string;
  readonly verdict: ModuleVerdict;
}

/** Remembers verdicts on disk by path, modification time and size: unchanged folders need no parser. */
class VerdictCache {
  readonly #path: string;
  readonly #known: ReadonlyMap<string, KeptVerdict>;
  readonly #used = new Map<string, KeptVerdict>();

  private constructor(path: string, known: ReadonlyMap<string, KeptVerdict>) {
    this.#path = path;
    this.#known = known;
  }

  static async open(cacheDir: string): Promise<VerdictCache> {
    const path = join(cacheDir, "tool-modules.json");
    return new VerdictCache(path, await readKept(path));
  }

  async verdictOf(tool: ToolFile): Promise<ModuleVerdict> {
    const version = fileVersion(tool);
    const known = this.#known.get(tool.file);
    const kept =
      known?.version === version
        ? known
        : { version, verdict: scanModule({ file: tool.file, text: await readFile(tool.file, "utf8") }) };
    this.#used.set(tool.file, kept);
    return kept.verdict;
  }

  /** Writes what this run used, so verdicts of deleted files go away. Failing to write only costs time. */
  async save(): Promise<void> {
    if (sameVerdicts(this.#used, this.#known)) return;
    const content = JSON.stringify({ rules: SCAN_RULES_VERSION, modules: Object.fromEntries(this.#used) });
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await replaceFile({ path: this.#path, data: content, mode: 0o600, sync: false });
    } catch {
      // The next run scans again.
    }
  }
}

function fileVersion(tool: Pick<ToolFile, "mtimeNs" | "size">): string {
  return `${tool.mtimeNs}-${tool.size}`;
}

function sameVerdicts(a: ReadonlyMap<string, KeptVerdict>, b: ReadonlyMap<string, KeptVerdict>): boolean {
  return a.size === b.size && [...a].every(([file, { version }]) => b.get(file)?.version === version);
}

async function readKept(path: string): Promise<ReadonlyMap<string, KeptVerdict>> {
  try {
    const content: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isRecord(content) || content.rules !== SCAN_RULES_VERSION || !isRecord(content.modules))
      return new Map();
    return new Map(
      Object.entries(content.modules).flatMap(([file, kept]) => (isKept(kept) ? [[file, kept]] : [])),
    );
  } catch {
    return new Map();
  }
}

function isKept(value: unknown): value is KeptVerdict {
  if (!isRecord(value) || typeof value.version !== "string" || !isRecord(value.verdict)) return false;
  const { kind, message, line } = value.verdict;
  if (kind === "broken") return typeof message === "string" && typeof line === "number";
  return kind === "tool" || kind === "helper";
}
