import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../config/atomic-write.js";
import type { Runtime } from "../runtime/runtime.js";
import type { ToolSpec } from "../sources/yaml/tool-spec.js";
import { failure, HermesError } from "../tool/errors.js";

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
  readonly path: string;
  readonly text: string;
  readonly force: boolean;
  readonly dryRun: boolean;
}): Promise<Stored> {
  const before = existsSync(file.path) ? readFileSync(file.path, "utf8") : undefined;
  if (before === file.text) return "same";
  if (before !== undefined && !file.force) {
    throw new HermesError(
      failure(
        "bad_request",
        `${file.path} exists and is different`,
        "Add --force to replace it, or --name to store it under another name.",
      ),
    );
  }
  if (!file.dryRun) {
    mkdirSync(join(file.path, ".."), { recursive: true, mode: 0o700 });
    await writeDurably(file.path, file.text, 0o600);
  }
  return before === undefined ? "new" : "replaced";
}
