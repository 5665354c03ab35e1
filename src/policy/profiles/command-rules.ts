import type { JudgedSegment } from "../../call/scope.js";
import { wildcardMatches } from "../paths/segment-pattern.js";
import { judgeCommand } from "../shell/analysis.js";
import { hasUnquoted, isAssignment, programName, splitCommands, wordsOf } from "./command-words.js";

type Segment = Pick<JudgedSegment, "text" | "canonical">;

/** Programs that run what follows them: a rule about the inner one must find it there. */
const WRAPPERS = new Set(
  (
    "sudo doas su env nohup nice ionice timeout time xargs parallel command builtin exec eval setsid stdbuf " +
    "chroot unshare nsenter busybox toybox watch script flock chrt taskset setarch firejail bwrap strace " +
    "ltrace systemd-run runuser pkexec proot fakeroot unbuffer ssh"
  ).split(" "),
);

/** The same, behind `exec` or `run`. */
const CONTAINERS = new Set("docker podman nerdctl kubectl oc lxc incus".split(" "));

/** Folders whose programs are the ones their names say. */
const SYSTEM_PROGRAM = /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]+$/;

/** The parts a command line is judged by; split by text alone when the analysis gave up on it. */
export function segmentsOf(command: string, judged: readonly JudgedSegment[] = []): readonly Segment[] {
  if (judged.length > 0) return judged;
  return splitCommands(command).map((text) => ({ text, canonical: text }));
}

/** For examples and single rules; `deny` is generous, `allow` is exact. */
export function commandRuleMatches(rule: string, command: string, purpose: "allow" | "deny"): boolean {
  const segments = segmentsOf(command, judgeCommand(command).segments);
  if (segments.length === 0) return false;
  return purpose === "deny"
    ? deniesCommand(rule, command, segments)
    : segments.every((segment) => allowsSegment(rule, segment));
}

/**
 * Whether a rule of `denied_commands` covers a line: each command of the rule is found in it, in order. A
 * command is found when program, options and operands of the rule are all there, in any spelling; more of them
 * change nothing. `*` stands for anything.
 */
export function deniesCommand(rule: string, command: string, segments: readonly Segment[]): boolean {
  if (squeezed(rule) === squeezed(command)) return true;
  const wanted = splitCommands(rule).map(wordsOf);
  if (wanted.length === 0) return false;
  // What defines functions is compared as a whole: taken apart, its pieces are too short to mean anything.
  if (/\(\s*\)\s*\{/.test(rule)) return squeezed(command).includes(squeezed(rule));
  let next = 0;
  for (const segment of segments) {
    const expected = wanted[next];
    if (expected !== undefined && candidatesOf(segment).some((words) => hasAll(expected, words))) next += 1;
  }
  return next === wanted.length;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

/** The words a segment may be read as: as it comes out, as it was written, and from inside its wrappers. */
function candidatesOf({ text, canonical }: Segment): readonly (readonly string[])[] {
  const candidates: (readonly string[])[] = [];
  for (const words of [wordsOf(canonical), wordsOf(text)]) {
    const start = words.findIndex((word) => !isAssignment(word));
    if (start === -1) continue;
    const bare = words.slice(start);
    candidates.push(bare);
    for (let from = innerStart(bare); from < bare.length; from += 1) candidates.push(bare.slice(from));
  }
  return candidates;
}

/** From which word on another program may begin; past the end when none does. */
function innerStart(words: readonly string[]): number {
  const program = programName(words[0] ?? "");
  if (WRAPPERS.has(program)) return 1;
  const handsOver = CONTAINERS.has(program)
    ? words.findIndex((word) => word === "exec" || word === "run")
    : -1;
  return handsOver === -1 ? words.length : handsOver + 1;
}

interface TakenApart {
  readonly options: readonly string[];
  readonly operands: readonly string[];
}

function hasAll(rule: readonly string[], words: readonly string[]): boolean {
  const [program = "", ...rest] = rule;
  if (!wildcardMatches(programName(program), programName(words[0] ?? ""))) return false;
  const wanted = takeApart(rest);
  const given = takeApart(words.slice(1));
  if (!wanted.options.every((option) => given.options.some((other) => isSameOption(option, other)))) {
    return false;
  }
  let next = 0;
  const operands = wanted.operands.filter((operand) => operand !== "*");
  for (const operand of given.operands) {
    const expected = operands[next];
    if (expected !== undefined && isSameOperand(expected, operand)) next += 1;
  }
  return next === operands.length;
}

/** `-rf` counts as `-r -f`; what follows `--` is no option. */
function takeApart(words: readonly string[]): TakenApart {
  const options: string[] = [];
  const operands: string[] = [];
  let ended = false;
  for (const word of words) {
    if (ended || !word.startsWith("-") || word === "-") operands.push(word);
    else if (word === "--") ended = true;
    else if (word.startsWith("--")) options.push(word.replace(/=.*$/s, ""));
    else for (const letter of word.slice(1)) options.push(`-${letter}`);
  }
  return { options, operands };
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  "-r": "--recursive",
  "-f": "--force",
  "-a": "--all",
  "-d": "--delete",
};

function isSameOption(wanted: string, given: string): boolean {
  if (wildcardMatches(wanted.toLowerCase(), given.toLowerCase())) return true;
  const long = (option: string) => LONG_NAMES[option.toLowerCase()] ?? option;
  const [longer, shorter] = [long(wanted), long(given)];
  // A long option may be cut short as long as it is clear which one is meant.
  return shorter.length > 3 && shorter.startsWith("--") && longer.startsWith(shorter);
}

function isSameOperand(wanted: string, given: string): boolean {
  const tidy = (operand: string) => operand.replace(/(?<=.)\/+$/, "").replace(/\/{2,}/g, "/") || "/";
  return wildcardMatches(wanted, given) || wildcardMatches(tidy(wanted), tidy(given));
}

/**
 * Whether a rule of `allowed_commands` covers one command: word for word, `*` alone for any words. A program
 * from an odd folder, variables set for it, or a redirection are nothing the rule speaks of.
 */
export function allowsSegment(rule: string, segment: Segment): boolean {
  const text = withoutQuietRedirects(innerText(segment.text));
  if (hasUnquoted(text, /[<>]/)) return false;
  const words = wordsOf(text);
  const [program = ""] = words;
  if (isAssignment(program)) return false;
  const named = SYSTEM_PROGRAM.test(program) ? [programName(program), ...words.slice(1)] : words;
  return isSequence(wordsOf(rule), named);
}

/** The text that a shell was handed as one word. */
function innerText(text: string): string {
  const [only = "", ...more] = wordsOf(text);
  return more.length === 0 && /\s/.test(only) ? only : text;
}

/** Sending output nowhere, or errors to where the output goes, touches nothing. */
function withoutQuietRedirects(text: string): string {
  return text.replace(/(?:^|\s)(?:\d|&)?>{1,2}\s*\/dev\/null(?=\s|$)|(?:^|\s)2>&1(?=\s|$)/g, " ").trim();
}

function isSequence(rule: readonly string[], words: readonly string[]): boolean {
  let part = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < words.length) {
    if (rule[part] === "*") {
      star = part;
      starAt = at;
      part += 1;
    } else if (rule[part] !== undefined && wildcardMatches(rule[part] ?? "", words[at] ?? "")) {
      part += 1;
      at += 1;
    } else if (star !== -1) {
      part = star + 1;
      starAt += 1;
      at = starAt;
    } else return false;
  }
  while (rule[part] === "*") part += 1;
  return part === rule.length;
}
