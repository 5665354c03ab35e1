import { type Outline, outlineOf } from "../../shell/read/outline.js";

/** What an exit code means for programs where it does not mean failure, or where it says what failed. */
const BY_PROGRAM: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: "no lines matched (not an error)", 2: "grep met an error, for example an unreadable file" },
  diff: { 1: "the files differ (not an error)", 2: "diff met an error, for example a missing file" },
  cmp: { 1: "the files differ (not an error)" },
  find: { 1: "some folders could not be read; the other results are valid" },
  test: { 1: "the condition is false (not an error)" },
  git: {
    1: "often not an error: git diff found differences, or git grep found nothing",
    128: "git stopped; the message tells why",
  },
  curl: {
    3: "the URL is malformed",
    6: "the host name could not be resolved",
    7: "the connection was refused or failed",
    22: "the server answered with an HTTP error status",
    28: "the request timed out",
    35: "the TLS handshake failed",
    52: "the server sent an empty answer",
    60: "the TLS certificate could not be verified",
  },
  wget: { 4: "network failure", 5: "TLS verification failed", 8: "the server answered with an error status" },
  ssh: { 255: "the connection failed" },
  timeout: { 124: "timeout ended the command" },
  pytest: { 1: "tests failed", 2: "interrupted", 4: "wrong usage", 5: "no tests were collected" },
  make: { 2: "a recipe failed" },
};
const SAME_AS: Readonly<Record<string, string>> = {
  rg: "grep",
  ag: "grep",
  ack: "grep",
  egrep: "grep",
  fgrep: "grep",
  zgrep: "grep",
  "[": "test",
  "[[": "test",
};

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT: interrupted",
  3: "SIGQUIT",
  4: "SIGILL: illegal instruction",
  6: "SIGABRT: the program aborted itself",
  7: "SIGBUS: bad memory access",
  8: "SIGFPE: arithmetic error such as a division by zero",
  9: "SIGKILL: killed, often because memory ran out",
  11: "SIGSEGV: invalid memory access",
  13: "SIGPIPE: the reader of its output went away",
  14: "SIGALRM",
  15: "SIGTERM: asked to end",
  24: "SIGXCPU: CPU time limit",
  25: "SIGXFSZ: file size limit",
};

/** A remark on an exit code that a model tends to misread; `undefined` when there is nothing to add. */
export function exitMeaning(command: string, exitCode: number): string | undefined {
  if (exitCode === 0) return undefined;
  // The last command of the line gives its exit code to the shell.
  const program = programsIn(outlineOf(command)).at(-1)?.program ?? "";
  const note = BY_PROGRAM[SAME_AS[program] ?? program]?.[exitCode];
  if (note !== undefined) return note;
  if (exitCode === 126) return "found, but could not be executed (permission, or not a program)";
  if (exitCode === 127) return "command not found";
  if (exitCode === -15) return "ended on request";
  const signal = exitCode > 128 ? SIGNALS[exitCode - 128] : undefined;
  return signal === undefined ? undefined : `ended by signal ${exitCode - 128} (${signal})`;
}

/** A program that a line starts, for hints only: what is dangerous is judged by the policy. */
export interface StartedProgram {
  /** Without its folder. */
  readonly program: string;
  readonly args: readonly string[];
}

const TRANSPARENT = new Set("exec command builtin sudo doas env nice ionice stdbuf npx bunx".split(" "));

/** Every program of a line, in order, without the words that merely start another one. */
export function programsIn(outline: Outline | undefined): readonly StartedProgram[] {
  return (outline?.commands ?? []).flatMap(({ words }) => {
    const rest = [...words];
    while (TRANSPARENT.has(rest[0] ?? "") || /^[A-Za-z_]\w*\+?=/.test(rest[0] ?? "")) {
      rest.shift();
      while (rest[0]?.startsWith("-") === true) rest.shift();
    }
    const [program, ...args] = rest;
    return program === undefined ? [] : [{ program: program.replace(/^.*\//, ""), args }];
  });
}
