import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../base/atomic-write.js";
import { isRecord } from "../base/record.js";
import { type ModuleVerdict, SCAN_RULES_VERSION, scanModule } from "./scan-module.js";
import type { ToolFile } from "./user-module-files.js";

interface KeptVerdict {
  readonly version: string;
  readonly verdict: ModuleVerdict;
}

/** Remembers verdicts on disk by path, modification time and size: unchanged folders need no parser. */
export class VerdictCache {
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

export function fileVersion(tool: Pick<ToolFile, "mtimeNs" | "size">): string {
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
