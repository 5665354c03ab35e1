import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AUDIT_ARCH,
  callNumber,
  type FilterArch,
  IO_URING_SETUP,
  JUDGED_CALLS,
  MODE_CALLS,
  OPENAT2,
  REFUSED_CALLS,
} from "./syscalls.js";

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where `struct seccomp_data` keeps what is asked about; arguments are 64 bits, the low half comes first. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const argumentAt = (index: number) => 16 + 8 * index;

const ALLOW = 0x7fff0000;
const refuseWith = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Calls of the x32 interface carry this bit and would otherwise slip past the numbers. */
const X32_BIT = 0x40000000;
/** CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET. */
const NEW_NAMESPACE_FLAGS = 0x7e020000;
/** TIOCSTI and TIOCLINUX type into somebody else's terminal; TIOCSETD loads rarely used code into the kernel. */
const TERMINAL_INJECTION = [0x5412, 0x541c, 0x5423];
/** Unix, IPv4, IPv6 and netlink. The others (vsock, Bluetooth, …) are not held back by a network namespace. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

/** Ordinary, 32 bits, old version numbers, and the question for the current one. The rest weakens protections. */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

interface Instruction {
  readonly code: number;
  readonly operand: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
}

export function filterArch(arch: string = process.arch): FilterArch | undefined {
  return arch === "x64" || arch === "arm64" ? arch : undefined;
}

/**
 * The filter as the bytes bubblewrap loads. What it refuses fails with an ordinary error, so that programs
 * fall back instead of dying.
 */
export function seccompFilter(arch: FilterArch): Buffer {
  const program: Instruction[] = [
    { code: LOAD_WORD, operand: ARCHITECTURE },
    { code: JUMP_IF_EQUAL, operand: AUDIT_ARCH[arch], ifTrue: 1 },
    { code: RETURN, operand: refuseWith(EPERM) },
    { code: LOAD_WORD, operand: CALL_NUMBER },
  ];
  if (arch === "x64") {
    program.push(
      { code: JUMP_IF_AT_LEAST, operand: X32_BIT, ifFalse: 1 },
      { code: RETURN, operand: refuseWith(EPERM) },
    );
  }
  for (const numbers of Object.values(REFUSED_CALLS)) {
    const number = callNumber(numbers, arch);
    if (number !== undefined) program.push(...onCall(number, [refuse(EPERM)]));
  }
  const judged = (name: keyof typeof JUDGED_CALLS) => callNumber(JUDGED_CALLS[name], arch) ?? -1;
  program.push(...onlyOrdinaryModes(arch, SET_USER | SET_GROUP));
  // Its flags lie in memory, which a filter cannot read; libraries fall back to clone.
  program.push(...onCall(judged("clone3"), [refuse(ENOSYS)]));
  program.push(
    ...onCall(judged("clone"), [
      { code: LOAD_WORD, operand: argumentAt(0) },
      { code: JUMP_IF_ANY_BIT, operand: NEW_NAMESPACE_FLAGS, ifFalse: 1 },
      refuse(EPERM),
      allow,
    ]),
    ...onCall(judged("ioctl"), [
      { code: LOAD_WORD, operand: argumentAt(1) },
      ...TERMINAL_INJECTION.flatMap((request) => [
        { code: JUMP_IF_EQUAL, operand: request, ifFalse: 1 },
        refuse(EPERM),
      ]),
      allow,
    ]),
    ...onCall(judged("socket"), [
      { code: LOAD_WORD, operand: argumentAt(0) },
      ...SOCKET_FAMILIES.flatMap((family) => [{ code: JUMP_IF_EQUAL, operand: family, ifFalse: 1 }, allow]),
      refuse(EAFNOSUPPORT),
    ]),
    ...onCall(judged("personality"), [
      { code: LOAD_WORD, operand: argumentAt(0) },
      ...PERSONALITIES.flatMap((kind) => [{ code: JUMP_IF_EQUAL, operand: kind, ifFalse: 1 }, allow]),
      refuse(EPERM),
    ]),
    allow,
  );
  return encode(program);
}

/** Bits of a mode: whoever runs the file becomes its owner, or joins its group. */
const SET_USER = 0o4000;
const SET_GROUP = 0o2000;
const O_CREAT = 0o100;

/**
 * The filter for commands of which ordinary work must not notice anything: no file is left behind that makes others
 * root. Of an ordinary person's files only the first bit matters, and programs of 32 bits go unfiltered.
 */
export function ownerFilter(arch: FilterArch, root: boolean): Buffer {
  return encode([
    { code: LOAD_WORD, operand: ARCHITECTURE },
    { code: JUMP_IF_EQUAL, operand: AUDIT_ARCH[arch], ifTrue: 1 },
    root ? refuse(EPERM) : allow,
    { code: LOAD_WORD, operand: CALL_NUMBER },
    ...(arch === "x64" ? [{ code: JUMP_IF_AT_LEAST, operand: X32_BIT, ifFalse: 1 }, refuse(ENOSYS)] : []),
    ...onlyOrdinaryModes(arch, root ? SET_USER | SET_GROUP : SET_USER),
    ...(root ? onCall(IO_URING_SETUP, [refuse(ENOSYS)]) : []),
    allow,
  ]);
}

function onlyOrdinaryModes(arch: FilterArch, bits: number): readonly Instruction[] {
  const judged = MODE_CALLS.flatMap(({ numbers, mode, flags }) => {
    const number = numbers[arch === "x64" ? 0 : 1];
    const judgeMode: Instruction[] = [
      { code: LOAD_WORD, operand: argumentAt(mode) },
      { code: JUMP_IF_ANY_BIT, operand: bits, ifFalse: 1 },
      refuse(EPERM),
      allow,
    ];
    const created: Instruction[] =
      flags === undefined
        ? []
        : [
            { code: LOAD_WORD, operand: argumentAt(flags) },
            { code: JUMP_IF_ANY_BIT, operand: O_CREAT, ifTrue: 1 },
            allow,
          ];
    return number === undefined ? [] : onCall(number, [...created, ...judgeMode]);
  });
  return [...judged, ...onCall(OPENAT2, [refuse(ENOSYS)])];
}

const allow: Instruction = { code: RETURN, operand: ALLOW };
const refuse = (errno: number): Instruction => ({ code: RETURN, operand: refuseWith(errno) });

/** The body must return on every way through it: it overwrites the loaded call number. */
function onCall(number: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, operand: number, ifFalse: body.length }, ...body];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, operand, ifTrue = 0, ifFalse = 0 }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}

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
