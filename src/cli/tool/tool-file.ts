import { isUtf8 } from "node:buffer";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import { errnoOf } from "../../base/errno.js";
import { confirmWritten } from "../../config/confirmed-files.js";
import type { Runtime } from "../../runtime/runtime.js";
import { buildTool } from "../../sources/yaml/build-tool.js";
import { type FileProblem, formatFileProblem } from "../../toolfile/problems.js";
import { NOT_UTF8, readToolFile } from "../../toolfile/read-file.js";
import { createToolHost } from "../../toolfile/tool-host.js";
import type { ToolSpec } from "../../toolfile/tool-spec.js";
import { commandError, EXIT } from "../errors.js";
import type { Output } from "../output.js";
import { isInteractive } from "../person.js";

export interface ToolFile {
  readonly path: string;
  readonly text: string;
  readonly tools: readonly ToolSpec[];
}

/** A file of YAML tools; every problem in it is told, with its place, and then there is none. */
export async function openToolFile(given: string, out: Output): Promise<ToolFile | undefined> {
  const path = resolve(given);
  const text = await textOf(path);
  const reading = await readToolFile(text);
  const problems = reading.ok ? await unusableSchemas(reading.tools) : reading.problems;
  if (reading.ok && problems.length === 0) return { path, text, tools: reading.tools };
  if (out.json) {
    const told = problems.map(({ message, hint, place }) => ({ file: path, ...place, message, hint }));
    out.value({ ok: false, file: path, problems: told });
  } else {
    for (const problem of problems) out.line(`${out.mark("error")} ${formatFileProblem(given, problem)}`);
    out.line(
      problems.length === 1
        ? "1 problem; nothing was changed"
        : `${problems.length} problems; nothing was changed`,
    );
  }
  process.exitCode = EXIT.usage;
  return undefined;
}

async function textOf(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const missing = errnoOf(error) === "ENOENT";
    throw commandError(
      "not_found",
      missing ? `${path} does not exist` : `${path} cannot be read: ${(error as Error).message}`,
    );
  }
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw commandError("bad_request", `${path} cannot be read: ${NOT_UTF8}`, "Save it as UTF-8.");
}

/** Registers the tools of a file that has been checked; their names. */
export async function addYamlTools(given: string, runtime: Runtime): Promise<readonly string[]> {
  const path = resolve(given);
  const reading = await readToolFile(await textOf(path));
  const specs = reading.ok ? reading.tools : [];
  const host = createToolHost((name) => runtime.config.env[name]);
  runtime.registry.swap({
    source: `yaml:${path}`,
    provenance: { kind: "yaml", source: path },
    tools: specs.map((spec) => ({ ...buildTool(spec, host), checkFn: () => true })),
  });
  return specs
    .map(({ name }) => name)
    .filter((name) => runtime.registry.get(name)?.provenance.source === path);
}

/** What only compiling a schema can tell; done here, where a person waits, and not at every start. */
async function unusableSchemas(tools: readonly ToolSpec[]): Promise<readonly FileProblem[]> {
  const { compileValidator } = await import("../../tool/validate.js");
  return tools.flatMap(({ name, schema, place }) => {
    try {
      compileValidator(schema, { foreign: true });
      return [];
    } catch (error) {
      const message = `the parameters of tool ${name} are no usable JSON Schema: ${(error as Error).message}`;
      return [{ message, place }];
    }
  });
}

export interface NameConflict {
  readonly name: string;
  /** Where the tool that has the name comes from. */
  readonly taken_by: string;
}

/** Names that something else than this very file already has. */
export function nameConflicts(
  runtime: Runtime,
  tools: readonly ToolSpec[],
  target: string,
): readonly NameConflict[] {
  return tools.flatMap(({ name }) => {
    const entry = runtime.registry.get(name);
    if (entry === undefined || entry.provenance.source === target) return [];
    const { kind, source } = entry.provenance;
    return [
      { name, taken_by: source === undefined ? `${kind} (toolset ${entry.toolset})` : `${kind} ${source}` },
    ];
  });
}

export type Stored = "new" | "same" | "replaced";

/** Puts a file into the tool folder, whole or not at all; another file of that name is only replaced on demand. */
export async function storeToolFile(file: {
  readonly home: string;
  readonly path: string;
  readonly text: string;
  readonly force: boolean;
  readonly dryRun: boolean;
}): Promise<Stored> {
  const before = existsSync(file.path) ? readFileSync(file.path, "utf8") : undefined;
  // Whoever types this has said yes: a running server need not ask them again, nor wait for what is there already.
  const confirmed = async () => {
    if (isInteractive() && !file.dryRun) await confirmWritten(file.home, file.path, file.text);
  };
  if (before === file.text) {
    await confirmed();
    return "same";
  }
  if (before !== undefined && !file.force) {
    throw commandError(
      "bad_request",
      `${file.path} exists and is different`,
      "Add --force to replace it, or --name to store it under another name.",
    );
  }
  if (!file.dryRun) {
    mkdirSync(join(file.path, ".."), { recursive: true, mode: 0o700 });
    await confirmed();
    await replaceFile({ path: file.path, data: file.text, mode: 0o600 });
  }
  return before === undefined ? "new" : "replaced";
}
