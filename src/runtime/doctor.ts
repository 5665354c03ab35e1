import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { LATE, within } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import { isOldNode, OLDEST_NODE } from "../base/node-version.js";
import type { ConfigProblem, LoadedConfig } from "../config/types.js";
import type { Unavailable } from "../env/sandbox/probe.js";
import { loadPermissions } from "../policy/profiles/load.js";
import type { McpServerStatus, McpSource } from "../sources/mcp/source.js";
import type { SourceStatus } from "../sources/types.js";
import { HermesError } from "../tool/errors.js";
import { examineCompiledParts } from "./compiled-parts.js";
import type { ToolListing } from "./definitions.js";
import { unknownWordsIn } from "./needs.js";
import type { Runtime } from "./runtime.js";
import { examineRoom } from "./stored-room.js";

/** A finding of `hermes doctor`. */
export interface Finding {
  readonly group:
    | "Runtime"
    | "Config"
    | "Tools"
    | "Environments"
    | "Cluster"
    | "Journal"
    | "Conversations"
    | "Storage";
  /** A note is no problem: something that is there for those who want it. */
  readonly level: "ok" | "note" | "warning" | "error";
  readonly what: string;
  readonly fix?: string | undefined;
}

const LOW_DISK_BYTES = 200 * 1024 * 1024;

/** Looks at everything that could keep a tool from running and says what would help. */
export async function examine(
  runtime: Runtime,
  { onWait }: { onWait?(what: string): void } = {},
): Promise<readonly Finding[]> {
  // What answers slowly is asked first and at the same time; the tools of servers count among the others below.
  const [servers, environments] = await Promise.all([
    examineServers(runtime, onWait),
    examineEnvironments(runtime),
  ]);
  return [
    ...examineMachine(runtime.config.paths.home),
    ...(await examineCompiledParts()),
    ...(await examineConfig(runtime)),
    ...(await examineTools(runtime)),
    ...examineSources(runtime),
    ...servers,
    ...environments,
    ...(await examineJournal(runtime)),
    ...(await examineRoom(runtime).catch(() => [])),
  ];
}

function examineMachine(home: string): readonly Finding[] {
  const findings: Finding[] = [];
  const old = isOldNode();
  findings.push({
    group: "Runtime",
    level: old ? "error" : "ok",
    what: `Node ${process.versions.node}`,
    fix: old ? `install Node ${OLDEST_NODE} or newer` : undefined,
  });
  const existing = existsSync(home);
  try {
    if (existing) accessSync(home, constants.W_OK);
    findings.push({
      group: "Runtime",
      level: "ok",
      what: `home ${home}${existing ? "" : " (made on first use)"}`,
    });
  } catch {
    findings.push({
      group: "Runtime",
      level: "error",
      what: `home ${home} is not writable`,
      fix: `chmod u+rwx ${home}, or set HERMES_HOME`,
    });
  }
  if (existing && process.platform !== "win32" && (statSync(home).mode & 0o077) !== 0)
    findings.push({
      group: "Runtime",
      level: "warning",
      what: `home ${home} can be read by others`,
      fix: `chmod 700 ${home}`,
    });
  if (existing) {
    const disk = statfsSync(home);
    const free = disk.bavail * disk.bsize;
    if (free < LOW_DISK_BYTES)
      findings.push({
        group: "Runtime",
        level: "warning",
        what: `only ${Math.round(free / 1_048_576)} MB free at ${home}`,
        fix: "free some space",
      });
  }
  return findings;
}

async function examineConfig(runtime: Runtime): Promise<readonly Finding[]> {
  const { config, registry } = runtime;
  const { project, systemDir, paths } = config;
  const permissions = await loadPermissions({ home: paths.home, project, systemDir });
  const { entries, aliases } = registry.snapshot();
  const strangers = permissions.unknownTools([...entries.keys(), ...aliases.keys()]);
  const words = await unknownWordsIn(config);
  const problems = [...config.problems, ...permissions.problems, ...strangers, ...words];
  const findings = problems.map(findingOf);
  for (const conflict of registry.conflicts) {
    findings.push({
      group: "Tools",
      level: "warning",
      what: `${conflict.name} of toolset ${conflict.rejected.toolset} was rejected: toolset ${conflict.kept.toolset} owns that name`,
      fix: "rename it, or register it with override: true",
    });
  }
  return findings.length > 0 ? findings : [{ group: "Config", level: "ok", what: "no problems" }];
}

/** The environment that sessions get, when it is not this machine. */
async function examineEnvironments({ config, sources }: Runtime): Promise<readonly Finding[]> {
  const name = config.values.terminal.env;
  const { environmentStatus } = await import("../env/environments.js");
  const { ready, about, reason, fix } = await environmentStatus(name, config, sources.plugins);
  const group = "Environments";
  if (name === "local")
    return ready
      ? [await examineBoundary(config)]
      : [{ group, level: "warning", what: `local: no command runs, ${reason ?? "not ready"}`, fix }];
  const chosen: Finding = ready
    ? { group, level: "ok", what: `${name}: ${about}; try it with hermes env test ${name}` }
    : { group, level: "error", what: `${name}: ${reason ?? "not ready"}`, fix };
  return [chosen, await examineBoundary(config)];
}

/** Which boundary holds commands back. The approval gate is none. */
export async function examineBoundary(config: LoadedConfig): Promise<Finding> {
  const group = "Environments";
  const { sandbox, sandbox_network } = config.values.terminal;
  if (sandbox === "off") {
    const what = "local: no boundary, commands run with all your rights (terminal.sandbox is off)";
    return { group, level: "warning", what, fix: "set terminal.sandbox to guard" };
  }
  const held = await whatHolds(config);
  if (!("unavailable" in held)) {
    const root = process.getuid?.() === 0 ? "; as root the number of processes is not limited" : "";
    const network = sandbox_network ? "on" : "off";
    const what =
      held.level === "guard"
        ? `local: commands run in a guard (${held.by}): no credentials, start-up files, system folders or Hermes' own files`
        : `local: bubblewrap sandbox, network ${network}${root}`;
    return { group, level: "ok", what };
  }
  const { unavailable, fix } = held;
  return sandbox === "required" || sandbox === "strict"
    ? { group, level: "error", what: `local: no command runs, ${unavailable}`, fix }
    : {
        group,
        level: "warning",
        what: `local: ⚠ no boundary, commands run with all your rights: ${unavailable}`,
        fix,
      };
}

/** Why the boundary that is configured for local commands does not hold here; undefined when it does. */
export async function boundaryProblem(config: LoadedConfig): Promise<Unavailable | undefined> {
  const { sandbox, env } = config.values.terminal;
  if (env !== "local" || sandbox === "off") return undefined;
  const held = await whatHolds(config);
  return "unavailable" in held ? held : undefined;
}

interface Holding {
  readonly level: "guard" | "strict";
  readonly by: string;
}

async function whatHolds(config: LoadedConfig): Promise<Holding | Unavailable> {
  const { sandbox } = config.values.terminal;
  if (sandbox !== "guard") {
    const { probeBwrap } = await import("../env/sandbox/probe.js");
    const found = await probeBwrap();
    if (!("unavailable" in found)) return { level: "strict", by: "bubblewrap" };
    if (sandbox !== "auto") return found;
  }
  const { probeGuard } = await import("../env/local/boundaries.js");
  const by = await probeGuard(config.env.HOME || homedir());
  return typeof by === "string" ? { level: "guard", by } : by;
}

function findingOf(problem: ConfigProblem): Finding {
  const place =
    problem.file === undefined
      ? ""
      : `${problem.file}${problem.line === undefined ? "" : `:${problem.line}`}: `;
  return {
    group: "Config",
    level: problem.severity,
    what: `${place}${problem.message}`,
    fix: problem.hint,
  };
}

async function examineTools(runtime: Runtime): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const problem of runtime.discovery.problems) {
    findings.push({
      group: "Tools",
      level: "error",
      what: `${problem.file}${problem.line === undefined ? "" : `:${problem.line}`} was skipped: ${problem.message}`,
      fix: "mend the module, or take it out of the folder",
    });
  }
  const tools = await runtime.listTools();
  const ready = tools.filter((tool) => tool.available).length;
  findings.push({ group: "Tools", level: "ok", what: `${ready} of ${tools.length} tools are ready` });
  return [...findings, ...whatTheyWaitFor(tools.filter((tool) => !tool.available))];
}

/** One line per reason: a key that ten tools wait for is missing once. */
function whatTheyWaitFor(tools: readonly ToolListing[]): readonly Finding[] {
  const waiting = new Map<string, readonly ToolListing[]>();
  for (const tool of tools) {
    const key = JSON.stringify([isOurs(tool), tool.reason, tool.fix]);
    waiting.set(key, [...(waiting.get(key) ?? []), tool]);
  }
  return [...waiting.values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    return {
      group: "Tools" as const,
      level: isOurs(first) ? ("note" as const) : ("warning" as const),
      what: `${alike.map(({ name }) => name).join(", ")}: ${first.reason ?? "the check failed"}`,
      fix: first.fix,
    };
  });
}

/** Nobody asked for these, so nothing is wrong when one of them lacks something. */
function isOurs({ provenance }: ToolListing): boolean {
  return provenance.kind === "builtin";
}

async function examineJournal(runtime: Runtime): Promise<readonly Finding[]> {
  try {
    const journal = await runtime.journal();
    return [
      {
        group: "Journal",
        level: journal.enabled ? "ok" : "warning",
        what: journal.enabled
          ? `${runtime.config.paths.stateDb} can be written`
          : "switched off: calls are not recorded",
      },
      ...(await examineState(runtime)),
    ];
  } catch (error) {
    return [cannotOpen("Journal", error)];
  }
}

/** An error that knows what to do says so itself: a database of a newer version has nothing to do with the disk. */
export function cannotOpen(group: Finding["group"], error: unknown): Finding {
  if (!(error instanceof HermesError) || error.hint === undefined)
    return {
      group,
      level: "error",
      what: messageOf(error),
      fix: "check the disk and the rights of the Hermes home",
    };
  const { hint, message } = error;
  return { group, level: "error", what: message.slice(0, -(hint.length + 2)), fix: hint };
}

/** Every page of the database, and what is kept of one that was damaged before. */
async function examineState(runtime: Runtime): Promise<readonly Finding[]> {
  const { stateDb } = runtime.config.paths;
  if (!existsSync(stateDb)) return [];
  const damage = (await runtime.store()).check();
  const reports = (await readdir(dirname(stateDb)))
    .filter((name) => name.startsWith(`${basename(stateDb)}.corrupt-`) && name.endsWith(".txt"))
    .map((name) => join(dirname(stateDb), name));
  const kept = await Promise.all(
    reports.map(async (path): Promise<Finding> => {
      const what = (await readFile(path, "utf8").catch(() => `${path} cannot be read`)).trim();
      return {
        group: "Journal",
        level: "warning",
        what,
        fix: `when it is settled: rm ${path.slice(0, -4)}*`,
      };
    }),
  );
  if (damage.length === 0) return kept;
  return [
    ...kept,
    {
      group: "Journal",
      level: "error",
      what: `${stateDb} is damaged: ${damage[0]}`,
      fix: "stop every running hermes; the next one keeps the damaged file and recovers what can be read",
    },
  ];
}

/** Nobody waits longer than this for a server that hangs, and is told of it before. */
const PATIENCE_MS = 10_000;
const SAY_AFTER_MS = 700;

/** MCP servers that cannot be used, tools of theirs that are left out, and those that wait for a person. */
async function examineServers(
  { sources }: Runtime,
  onWait?: (what: string) => void,
): Promise<readonly Finding[]> {
  const source = sources.get("mcp") as McpSource | undefined;
  if (source === undefined) return [];
  const looks = Promise.allSettled(source.servers().map(({ name }) => source.test(name)));
  if ((await within(looks, SAY_AFTER_MS)) === LATE) {
    const late = source.servers().filter(({ state }) => state === "connecting" || state === "configured");
    const names = late.map(({ name }) => name).join(", ");
    onWait?.(`waiting for MCP server ${names}, ${PATIENCE_MS / 1_000} s at most`);
    await within(looks, PATIENCE_MS - SAY_AFTER_MS);
  }
  return source.servers().flatMap(serverFindings);
}

function serverFindings({
  name,
  state,
  reason,
  fix,
  tools,
  quarantined,
  changed,
}: McpServerStatus): Finding[] {
  if (state === "disabled") return [];
  const group = "Tools";
  const usable = state === "ready" || state === "degraded";
  const why = reason === undefined ? "" : `: ${reason}`;
  const help = fix ?? (usable ? undefined : `see hermes mcp test ${name}`);
  return [
    {
      group,
      level: state === "ready" ? "ok" : "warning",
      what: usable
        ? `MCP server ${name}: ${tools.length} tools${why}`
        : `MCP server ${name} is ${state}${why}`,
      fix: help,
    },
    ...quarantined.map(
      (tool): Finding => ({
        group,
        level: "warning",
        what: `${tool.name} of ${name} is left out: ${tool.reason}`,
      }),
    ),
    ...changed.map(
      ({ tool }): Finding => ({
        group,
        level: "warning",
        what: `${tool} of ${name} is not what it was when it was first used`,
        fix: `look at it with hermes mcp approve ${name}`,
      }),
    ),
  ];
}

/** Kinds that `doctor` speaks of elsewhere, in more detail. */
const TOLD_ELSEWHERE = /^(?:mcp|module):/;

/** YAML files and plugins: what they bring, what keeps them from it, and what was left out. */
function examineSources({ sources }: Runtime): readonly Finding[] {
  return sources
    .status()
    .filter(({ source, state }) => !TOLD_ELSEWHERE.test(source) && state !== "disabled")
    .flatMap(sourceFindings);
}

function sourceFindings({
  source,
  state,
  tools,
  reason,
  fix,
  quarantined,
}: SourceStatus): readonly Finding[] {
  const group = "Tools";
  const why = reason === undefined ? "" : `: ${reason}`;
  return [
    {
      group,
      level: state === "ready" ? "ok" : "warning",
      what: `${source.replace(":", " ")}: ${tools.length} tools${why}`,
      fix,
    },
    ...quarantined.map(
      ({ name, reason: cause }): Finding => ({
        group,
        level: "warning",
        what: `${name} is left out: ${cause}`,
      }),
    ),
  ];
}
