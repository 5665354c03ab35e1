import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../../base/canonical-json.js";
import { sha256 } from "../../../base/hash.js";
import { isRecord } from "../../../base/record.js";
import type { Wanted } from "./providers.js";

/** Services forget what they made after a while. */
const KEPT_MS = 24 * 3_600_000;

/**
 * Jobs that were paid for and whose picture has not arrived. Written down before anybody waits: who asks for the same
 * picture again, after a timeout or a crash, gets that job and does not pay twice.
 */
export class OpenJob {
  readonly #file: string;
  readonly #folder: string;

  constructor(job: {
    readonly cacheDir: string;
    readonly provider: string;
    readonly base: string;
    readonly wanted: Wanted;
  }) {
    const { cacheDir, provider, base, wanted } = job;
    this.#folder = join(cacheDir, "image-jobs");
    this.#file = join(
      this.#folder,
      `${sha256(Buffer.from(canonicalJson({ provider, base, ...wanted }))).slice(0, 32)}.json`,
    );
  }

  /** The number the service gave it. */
  async id(): Promise<string | undefined> {
    try {
      const kept: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      if (!isRecord(kept) || typeof kept.id !== "string" || typeof kept.at !== "number") return undefined;
      return Date.now() - kept.at < KEPT_MS ? kept.id : undefined;
    } catch {
      return undefined;
    }
  }

  async keep(id: string): Promise<void> {
    const { default: writeFileAtomic } = await import("write-file-atomic");
    await mkdir(this.#folder, { recursive: true });
    await writeFileAtomic(this.#file, `${JSON.stringify({ id, at: Date.now() })}\n`, { mode: 0o600 });
  }

  async forget(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}
