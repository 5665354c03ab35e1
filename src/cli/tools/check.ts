import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type CheckReport, checkTool, confinedPolicy, withExamples } from "../../check/check-tool.js";
import { type ExampleOutcome, runExample } from "../../check/run-example.js";
import { loadConfig } from "../../config/load.js";
import { withActiveRegistry } from "../../registry/active.js";
import {
  type DiscoveryReport,
  discoverUserTools,
  type ToolFolder,
  type UserModule,
} from "../../registry/discover.js";
import type { Provenance } from "../../registry/entry.js";
import type { ToolRegistry } from "../../registry/registry.js";
import { toolFolders } from "../../registry/user-module-files.js";
import { createRuntime } from "../../runtime/create-runtime.js";
import { packagesFolder } from "../../runtime/packages/find.js";
import type { Runtime } from "../../runtime/runtime.js";
import { registrableTools } from "../../sources/modules/module-tools.js";
import type { TodoItem } from "../../tool/host-capabilities.js";
import type { ToolExample } from "../../tool/tool.js";
import { type CommandContext, exitSoon } from "../context.js";
import { commandError } from "../errors.js";
import { type SkippedTool, showEveryReport, showReports } from "./check-report.js";

const CALL_SECONDS = 2;
/** After its deadline a call has ended by itself; tools that allow themselves longer are stopped. */
const STOP_ANYWAY_MS = 200;
const RUNS = 25;
const RUNS_OF_EACH = 5;

export async function check(context: CommandContext): Promise<void> {
  const { options } = context;
  const [target = ""] = context.args;
  const all = options.all === true;
  if (all === (target !== ""))
    throw commandError(
      "bad_request",
      all ? "--all means every tool: name none" : "Which tool?",
      "hermes tools check NAME, or: hermes tools check --all",
    );
  const runs = options.runs === undefined ? (all ? RUNS_OF_EACH : RUNS) : positive(options.runs, "--runs");
  if (
    isYaml(target) &&
    (await (await import("../tool/tool-file.js")).openToolFile(target, context.out)) === undefined
  )
    return;
  const seed = options.seed === undefined ? Date.now() % 1_000_000 : positive(options.seed, "--seed");
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "hermes-check-")));
  borrowPackages(context.home, join(scratch, "home"));
  const runtime = await createRuntime({
    home: join(scratch, "home"),
    cwd: scratch,
    journal: false,
    policy: confinedPolicy(scratch),
    flags: { timeout: String(CALL_SECONDS) },
  });
  try {
    const chosen = all ? undefined : await targets(target, runtime, context.home, scratch);
    if (chosen === undefined) await addOwnTools(runtime, context.home, scratch);
    const session = await runtime.openSession({ door: "cli", host: { todos: scratchTodos() } });
    const { names, skipped } =
      chosen === undefined ? await everyTool(runtime) : { names: chosen, skipped: [] };
    const reports: CheckReport[] = [];
    for (const [index, tool] of names.entries()) {
      if (all) context.out.note(`${index + 1}/${names.length} ${tool}`);
      const report = await checkTool({
        runtime,
        session,
        tool,
        runs,
        seed,
        callMs: CALL_SECONDS * 1000 + STOP_ANYWAY_MS,
      });
      reports.push(
        withExamples(report, await examplesOf({ tool, runtime, scratch, home: context.home, all })),
      );
    }
    if (all) showEveryReport(context, { reports, skipped });
    else showReports(context, reports);
  } finally {
    await runtime.close();
    rmSync(scratch, { recursive: true, force: true });
    // A tool that does not stop must not keep the check from ending.
    exitSoon();
  }
}

/** A name means a registered tool; a path means every tool that file defines. */
async function targets(
  target: string,
  runtime: Runtime,
  home: string,
  scratch: string,
): Promise<readonly string[]> {
  if (isYaml(target)) {
    const { addYamlTools } = await import("../tool/tool-file.js");
    return addYamlTools(target, runtime);
  }
  const isFile = /\.(?:ts|js|mjs)$/.test(target);
  if (!isFile) {
    await addOwnTools(runtime, home, scratch);
    const name = runtime.canonicalName(target);
    if (needsAgent(runtime, name))
      throw commandError("unavailable", `${name} works only inside a conversation`, "Try it in: hermes chat");
    return [name];
  }
  const file = resolve(target);
  if (!existsSync(file)) throw commandError("not_found", `${file} does not exist`);
  const before = new Set(runtime.registry.snapshot().entries.keys());
  const report = await loadUserTools({
    registry: runtime.registry,
    folders: [{ path: dirname(file), origin: "home" }],
    cacheDir: join(scratch, "cache"),
    only: file,
  });
  const problem = report.problems.find((found) => found.file === file);
  if (problem !== undefined)
    throw commandError(
      "failed",
      `${file}${problem.line === undefined ? "" : `:${problem.line}`} could not be loaded: ${problem.message}`,
    );
  const names = [...runtime.registry.snapshot().entries.values()]
    .filter((entry) => entry.provenance.source === file || !before.has(entry.name))
    .map((entry) => entry.name);
  if (names.length === 0)
    throw commandError(
      "not_found",
      `${file} registers no tool at its top level`,
      "Export defineTool({...}) or call registry.register({...}).",
    );
  return names;
}

/** The tools that the person and the project have written. */
async function addOwnTools(runtime: Runtime, home: string, scratch: string): Promise<void> {
  const { project } = await loadConfig({ home, cwd: process.cwd(), env: process.env });
  const folders = toolFolders({
    home,
    project: project === undefined ? undefined : { root: project.folder, trusted: project.trusted },
  });
  await loadUserTools({ registry: runtime.registry, folders, cacheDir: join(scratch, "cache") });
}

/** The check brings a list of tasks along, and nothing else that an agent has. */
function needsAgent(runtime: Runtime, tool: string): boolean {
  const host = runtime.registry.get(tool)?.host;
  return host !== undefined && host !== "todos";
}

async function everyTool(
  runtime: Runtime,
): Promise<{ readonly names: readonly string[]; readonly skipped: readonly SkippedTool[] }> {
  const listed = await runtime.listTools();
  const left = listed.filter(({ name }) => needsAgent(runtime, name));
  const tried = listed.filter((tool) => !left.includes(tool));
  return {
    names: tried.filter(({ available }) => available).map(({ name }) => name),
    skipped: [
      ...tried.filter(({ available }) => !available).map(({ name, reason, fix }) => ({ name, reason, fix })),
      ...left.map(({ name }) => ({ name, reason: "works only inside a conversation", fix: "hermes chat" })),
    ],
  };
}

/** Of built-in tools: what others wrote into theirs is not known to be harmless. */
async function examplesOf(request: {
  readonly tool: string;
  readonly runtime: Runtime;
  readonly scratch: string;
  readonly home: string;
  /** With all tools one each is enough. */
  readonly all: boolean;
}) {
  const { tool, runtime, scratch, home, all } = request;
  const entry = runtime.registry.get(tool);
  if (entry?.provenance.kind !== "builtin") return [];
  const { examples = [] } = await entry.load();
  const tried: { readonly example: ToolExample; readonly outcome: ExampleOutcome }[] = [];
  for (const example of examples) {
    const prepareHome = (place: string) => borrowPackages(home, place);
    const outcome = await runExample({ tool, example, scratch, prepareHome });
    tried.push({ example, outcome });
    if (all && outcome.state !== "left out") break;
  }
  return tried;
}

/** What was set up for the person is there for the check too; nothing is ever written into it. */
function borrowPackages(home: string, scratchHome: string): void {
  const packages = packagesFolder(home);
  if (!existsSync(packages)) return;
  mkdirSync(scratchHome, { recursive: true });
  symlinkSync(realpathSync(packages), packagesFolder(scratchHome));
}

function isYaml(target: string): boolean {
  return /\.ya?ml$/i.test(target);
}

function positive(value: unknown, flag: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number <= 0)
    throw commandError("bad_request", `${flag} must be a positive whole number`);
  return number;
}

function scratchTodos() {
  let items: readonly TodoItem[] = [];
  return {
    read: () => items,
    write(next: readonly TodoItem[]) {
      items = next;
    },
  };
}

/** Imports the tool modules of the given folders into a registry. */
function loadUserTools(options: {
  readonly registry: ToolRegistry;
  readonly folders: readonly ToolFolder[];
  readonly cacheDir: string;
  /** Load this one file of the folders and leave the others alone. */
  readonly only?: string;
}): Promise<DiscoveryReport> {
  const { registry, folders, cacheDir, only } = options;
  return discoverUserTools({
    folders,
    cacheDir,
    only,
    around: (info, load) => withActiveRegistry({ registry, provenance: provenanceOf(info) }, load),
    register(module, info) {
      for (const tool of registrableTools(module, info.file))
        registry.add(tool, { provenance: provenanceOf(info) });
    },
  });
}

function provenanceOf(info: UserModule): Provenance {
  return { kind: info.origin, source: info.file };
}
