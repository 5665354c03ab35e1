import type { SimpleCommand } from "../types.js";
import { alwaysTrue } from "./fork-bomb.js";
import {
  type Command,
  type CompoundList,
  type For,
  forEachChild,
  type Select,
  type SyntaxNode,
  type While,
} from "./parse.js";
import type { Stream } from "./streams.js";

/** Of a loop without end that waits in each round: many, but not at once. */
export const PACED = 500;

/** Rounds within rounds; what waits in each of them does not do more by that. */
export function multiplied(outer: number, rounds: number): number {
  return rounds === PACED ? Math.max(outer, rounds) : outer * rounds;
}

/** How often the body of a loop runs, as far as its text tells: 1 where it does not. */
export function roundsOfWhile({ kind, clause, body }: While): number {
  if (leaves(clause) || leaves(body)) return 1;
  return (kind === "while" ? neverFails(clause) : alwaysFalse(clause)) ? paceOf([clause, body]) : 1;
}

/** How often the condition itself runs, when it is nothing that looks or waits for something. */
export function roundsOfClause({ kind, clause, body }: While): number {
  if (leaves(clause) || leaves(body) || kind === "until") return 1;
  const acts = clause.commands.every(
    ({ command }) => command.type !== "Pipeline" || command.prefixes.length === 0,
  );
  return acts && !someCommand(clause, (each) => LOOKS.test(nameOf(each))) ? paceOf([clause, body]) : 1;
}

export function roundsOfFor({ wordlist = [], body }: For | Select, words: number): number {
  if (leaves(body)) return 1;
  return Math.max(words, ...wordlist.map(({ text }) => countIn(text)), 1);
}

/** `for ((i = 0; i < 5000; i++))`; without a test it never ends. */
export function roundsOfArithmetic(test: SyntaxNode | undefined, body: CompoundList): number {
  if (leaves(body)) return 1;
  if (test === undefined) return paceOf([body]);
  const bounds: number[] = [1];
  const note = (node: SyntaxNode): void => {
    if (node.type === "ArithmeticWord" && /^\d+$/.test(node.value)) bounds.push(Number(node.value));
    forEachChild(node, note);
  };
  note(test);
  return Math.max(...bounds);
}

/** For each line of its input a program is started once: `seq 5000 | xargs …`. */
export function roundsOfInput(input: Stream): number {
  if (input.kind !== "text") return 1;
  const limits = input.from
    .filter(({ program }) => /^g?head$/.test(program))
    .map(({ args }) => lastNumber(args));
  const counted = input.from.filter(({ program }) => program === "seq").map(({ args }) => lastNumber(args));
  const endless = input.from.some(({ program }) => program === "yes") ? [Number.POSITIVE_INFINITY] : [];
  const lines = input.text.split("\n", MOST_LINES).length - 1;
  return Math.max(
    1,
    Math.min(Math.max(lines, ...counted, ...endless), ...limits.filter((count) => count > 0)),
  );
}
const MOST_LINES = 100_000;

function lastNumber(args: SimpleCommand["args"]): number {
  return Number(/^-?(?:n|-lines=)?(\d+)$/.exec(args.at(-1)?.text ?? "")?.[1] ?? 0);
}

/** `$(seq 1 500)`, `{1..500}`. */
function countIn(text: string): number {
  const [, from, to] = /\{(-?\d+)\.\.(-?\d+)(?:\.\.\d+)?\}/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) return Math.abs(Number(to) - Number(from)) + 1;
  const [, first = "1", step = "1", last] =
    /^["']?(?:\$\(|`)\s*(?:seq|jot|gseq)\s+(?:-\w+\s+)*(?:(-?\d+)\s+)??(?:(-?\d+)\s+)??(-?\d+)\s*[)`]/.exec(
      text,
    ) ?? [];
  return last === undefined ? 1 : Math.floor((Number(last) - Number(first)) / (Number(step) || 1)) + 1;
}

/** Hundreds of programs that all run at the same time: nothing in the body waits for one of them. */
export function startsCrowd(body: CompoundList, rounds: number): boolean {
  return (
    rounds >= CROWD &&
    body.commands.some(({ background }) => background === true) &&
    !someCommand(body, (each) => waits(each) || ENDING.test(nameOf(each)))
  );
}
const CROWD = 500;

const nameOf = ({ name }: Command): string => name?.value.split("/").at(-1) ?? "";
const LOOKS =
  /^(?:|\[|\[\[|test|read|mapfile|kill|pgrep|pidof|ps|grep|egrep|rg|nc|lsof|fuser|jobs|pg_isready|mountpoint|stat|ls|inotifywait|fswatch|shift|getopts|let|eval|ping|pv|docker-ready|systemctl|curl-ready|flock|wait|mysqladmin|redis-cli)$/;
const ENDING = /^(?:break|exit|return|read|exec)$/;
const WAITING = /^(?:sleep|wait|inotifywait|fswatch|tail|read|timeout|sar|vmstat|iostat)$/;
const SUCCEEDING = /^(?:true|:|sleep|usleep|echo|printf|date|clear|touch)$/;

const leaves = (node: SyntaxNode): boolean => someCommand(node, (each) => ENDING.test(nameOf(each)));

function neverFails(clause: CompoundList): boolean {
  return (
    alwaysTrue(clause) ||
    (clause.commands.length > 0 &&
      clause.commands.every(({ command }) => command.type === "Command" && SUCCEEDING.test(nameOf(command))))
  );
}

function alwaysFalse({ commands }: CompoundList): boolean {
  const [only] = commands;
  return commands.length === 1 && only?.command.type === "Command" && nameOf(only.command) === "false";
}

function paceOf(parts: readonly CompoundList[]): number {
  return parts.some((part) => someCommand(part, waits)) ? PACED : Number.POSITIVE_INFINITY;
}

/** A rest of less than half a second is none. */
function waits(command: Command): boolean {
  if (!WAITING.test(nameOf(command))) return false;
  const [first] = command.suffix;
  const time = first?.type === "Word" ? first.value : "";
  return nameOf(command) !== "sleep" || !/^0?\.[0-4]\d*s?$|^0s?$/.test(time);
}

function someCommand(node: SyntaxNode, isSuch: (command: Command) => boolean): boolean {
  let found = node.type === "Command" && isSuch(node);
  forEachChild(node, (child) => {
    found ||= someCommand(child, isSuch);
  });
  return found;
}
