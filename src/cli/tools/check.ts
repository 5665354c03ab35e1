import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type CheckReport, checkTool, confinedPolicy } from "../../check/check-tool.js";
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
import type { Runtime } from "../../runtime/runtime.js";
import { registrableTools } from "../../sources/modules/module-tools.js";
import type { TodoItem } from "../../tool/host-capabilities.js";
import { type CommandContext, exitSoon } from "../context.js";
import { commandError, EXIT } from "../errors.js";

const CALL_SECONDS = 2;
/** After its deadline a call has ended by itself; tools that allow themselves longer are stopped. */
const STOP_ANYWAY_MS = 200;
const MOST_SHOWN = 20;
export async function check(context: CommandContext): Promise<void> {
  const { options } = context;
  const [target = ""] = context.args;
  const runs = positive(options.runs, "--runs");
  if (
    isYaml(target) &&
    (await (await import("../tool/tool-file.js")).openToolFile(target, context.out)) === undefined
  )
    return;
  const seed = options.seed === undefined ? Date.now() % 1_000_000 : positive(options.seed, "--seed");
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "hermes-check-")));
  const runtime = await createRuntime({
    home: join(scratch, "home"),
    cwd: scratch,
    journal: false,
    policy: confinedPolicy(scratch),
    flags: { timeout: String(CALL_SECONDS) },
  });
  try {
    const names = await targets(target, runtime, context.home, scratch);
    const session = await runtime.openSession({ door: "cli", host: { todos: scratchTodos() } });
    const reports: CheckReport[] = [];
    for (const tool of names) {
      reports.push(
        await checkTool({ runtime, session, tool, runs, seed, callMs: CALL_SECONDS * 1000 + STOP_ANYWAY_MS }),
      );
    }
    show(context, reports);
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
    const { project } = await loadConfig({ home, cwd: process.cwd(), env: process.env });
    const folders = toolFolders({
      home,
      project: project === undefined ? undefined : { root: project.folder, trusted: project.trusted },
    });
    await loadUserTools({ registry: runtime.registry, folders, cacheDir: join(scratch, "cache") });
    return [runtime.canonicalName(target)];
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

function isYaml(target: string): boolean {
  return /\.ya?ml$/i.test(target);
}

function show({ out }: CommandContext, reports: readonly CheckReport[]): void {
  const broken = reports.some((report) => report.violations.length > 0);
  if (out.json) out.value({ ok: !broken, reports });
  else {
    for (const report of reports) {
      const total = Object.values(report.runs).reduce((sum, count) => sum + count, 0);
      const outcomes = Object.entries(report.outcomes)
        .map(([code, count]) => `${count} ${code}`)
        .join(", ");
      out.line(
        `${out.mark(report.violations.length === 0 ? "ok" : "error")} ${report.tool}: ${total} calls (${outcomes}), ${report.violations.length} problems, seed ${report.seed}`,
      );
      for (const { kind, what, args, times } of report.violations.slice(0, MOST_SHOWN))
        out.line(`    ${kind}: ${what}${times > 1 ? ` (${times} times)` : ""}  ${out.color.dim(args)}`);
      const more = report.violations.length - MOST_SHOWN;
      if (more > 0) out.line(`    and ${more} more (--json shows all)`);
      for (const remark of report.remarks) out.line(`    ${out.mark("warning")} ${remark}`);
    }
  }
  if (broken) process.exitCode = EXIT.toolError;
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
