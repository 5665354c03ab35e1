import { join } from "node:path";
import { FileChanges } from "../call/file-changes.js";
import type { Runtime } from "./runtime.js";

const MB = 1024 * 1024;

/** What `hermes undo` needs; undefined when nothing is to be kept. */
export function fileChangesOf(runtime: Runtime): FileChanges | undefined {
  const { undo } = runtime.config.values;
  if (!undo.enabled || !runtime.remembers) return undefined;
  return new FileChanges({
    store: () => runtime.store(),
    folder: join(runtime.config.paths.home, "undo"),
    maxFileBytes: undo.max_file_mb * MB,
    maxTotalBytes: undo.max_total_mb * MB,
    keepDays: undo.keep_days,
  });
}
