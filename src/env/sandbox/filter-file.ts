import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filterArch, seccompFilter } from "./seccomp.js";

/** The filter of system calls in a file without a name: each command gets a descriptor that starts at its beginning. */
export class FilterFile {
  #descriptor: number | undefined;

  constructor() {
    const arch = filterArch();
    if (arch === undefined) return;
    const name = join(tmpdir(), `hermes-filter-${randomBytes(8).toString("hex")}`);
    writeFileSync(name, seccompFilter(arch), { mode: 0o600, flag: "wx" });
    try {
      this.#descriptor = openSync(name, constants.O_RDONLY);
    } finally {
      unlinkSync(name);
    }
  }

  /** Undefined on a processor whose system calls are not known. The caller closes it. */
  open(): number | undefined {
    if (this.#descriptor === undefined) return undefined;
    return openSync(`/proc/self/fd/${this.#descriptor}`, constants.O_RDONLY);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
