import { release } from "node:os";
import type { Confine } from "../environment.js";
import type { GroupLimits } from "./control-groups.js";
import { DEFAULT_LIMITS, type SandboxLimits, type SandboxOptions } from "./types.js";

/** bubblewrap stands outside and inside of the sandbox and waits. */
const BUBBLEWRAP_PROCESSES = 2;
/** Descriptors of one process: enough for any script, and the machine's table stays far from full. */
const CONFINED_DESCRIPTORS = 4_096;

/** Set aside for the stack of each thread, and hardly ever used. */
const STACK_BYTES = 8 * 1024 ** 2;
const OTHER_RESERVES = 64 * 1024 ** 2;

/** What each process of a command may use by itself, where `counted` says that all together are counted as well. */
export function limitsFor(request: {
  readonly options: SandboxOptions;
  readonly confine: Confine | undefined;
  readonly counted: boolean;
}): SandboxLimits {
  const { options, confine, counted } = request;
  const usual = { ...DEFAULT_LIMITS, ...options.limits };
  if (confine === undefined) return usual;
  return {
    ...usual,
    processes: countsPerSandbox() ? confine.processes + BUBBLEWRAP_PROCESSES : usual.processes,
    // It lies in memory, and a full disk is easier to understand than a program that was ended.
    temporaryBytes: Math.min(usual.temporaryBytes, Math.floor(confine.memoryBytes / 2)),
    dataBytes: counted ? Math.max(confine.memoryBytes, reservesOf(confine)) : confine.memoryBytes,
    descriptors: CONFINED_DESCRIPTORS,
    firstToGo: true,
  };
}

/** What is only set aside counts for a single process, but must not keep it from having all its threads. */
function reservesOf({ processes }: Confine): number {
  return processes * STACK_BYTES + OTHER_RESERVES;
}

/**
 * What all processes may use together: a little more memory than one may have, so that a language gets the
 * chance to say that it is over before the kernel ends it without a word.
 */
export function groupLimits(confine: Confine): GroupLimits {
  return {
    memoryBytes: Math.ceil(confine.memoryBytes * 1.05),
    processes: confine.processes + BUBBLEWRAP_PROCESSES,
  };
}

/** Since Linux 5.14 the count begins anew in each sandbox; before, everything else of the person counts too. */
function countsPerSandbox(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
