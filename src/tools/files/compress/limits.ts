import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";

const MIB = 1024 * 1024;
export const MAX_ARCHIVE_BYTES = 512 * MIB;
/** Of what one archive is made from. */
export const MAX_PACKED_BYTES = 1024 * MIB;
export const MAX_ENTRIES = 50_000;
/** Where no configuration says them; the same as in its table. */
const DEFAULTS = { max_unpacked_mb: 1_024, max_growth: 250 };
/** Small archives may be as empty as they like. */
const RATIO_COUNTS_FROM = 16 * MIB;

/** Counts what really comes out of an archive; what its headers claim is not asked. */
export class UnpackBudget {
  readonly #archive: string;
  readonly #archiveBytes: number;
  readonly #maxMib: number;
  readonly #maxGrowth: number;
  #bytes = 0;
  #entries = 0;

  constructor(
    archive: { readonly path: string; readonly bytes: Uint8Array },
    settings: Readonly<Record<string, unknown>>,
  ) {
    this.#archive = archive.path;
    this.#archiveBytes = Math.max(1, archive.bytes.length);
    const limits = { ...DEFAULTS, ...(settings.archives as Partial<typeof DEFAULTS> | undefined) };
    this.#maxMib = limits.max_unpacked_mb;
    this.#maxGrowth = limits.max_growth;
  }

  get bytes(): number {
    return this.#bytes;
  }

  addBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.#maxMib * MIB) {
      throw this.#refusal(`it unpacks to more than ${this.#maxMib} MiB`, "archives.max_unpacked_mb");
    }
    if (this.#bytes > RATIO_COUNTS_FROM && this.#bytes / this.#archiveBytes > this.#maxGrowth) {
      throw this.#refusal(
        `it grows more than ${this.#maxGrowth}-fold, as archives made to fill a disk do`,
        "archives.max_growth",
      );
    }
  }

  addEntry(): void {
    this.#entries++;
    if (this.#entries > MAX_ENTRIES) throw this.#refusal(`it has more than ${MAX_ENTRIES} entries`);
  }

  #refusal(why: string, setting?: string): ToolError {
    const raise = setting === undefined ? "" : ` or raise ${setting}`;
    return refusal(
      this.#archive,
      why,
      `If the person trusts it, they can unpack it in the terminal${raise}.`,
    );
  }
}

export function refusal(archive: string, why: string, hint?: string): ToolError {
  return new ToolError(`${archive} is not unpacked: ${why}. Nothing was written.`, {
    code: "denied",
    hint: hint ?? "List it to see what it holds; do not unpack archives you do not trust.",
    details: { archive, refused: true },
  });
}

export function damaged(archive: string, error: unknown): ToolError {
  if (ToolError.isInstance(error)) return error;
  const why = messageOf(error);
  return new ToolError(`${archive} is damaged or not what its name says: ${why}.`, {
    hint: "Get it again, or inspect it in the terminal (file, unzip -t, tar -t).",
    cause: error,
  });
}
