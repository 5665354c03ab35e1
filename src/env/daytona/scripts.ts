import { quoteForShell } from "../../base/quote.js";
import { FORGET, INPUT, POLL, START, SUPERVISOR, TERMINAL } from "./scripts.gen.js";

/**
 * The service runs a command and answers with everything it printed as one text. Real streams are made of that:
 * a small supervisor in the sandbox runs the program, cuts its two streams into numbered pieces, and each request
 * fetches the pieces that are ready, waiting for the first one. A piece is deleted only when a later request says
 * that it has arrived, so a broken connection loses nothing; a program that prints faster than its pieces are
 * fetched has to wait.
 */

/** How long a request waits for news. */
export const WAIT_SECONDS = 20;
/** Works with daemons that split the line at quotes as well as with those that give it to a shell. */
export function commandLine(script: string): string {
  return `sh -c 'printf %s ${Buffer.from(script).toString("base64")} | base64 -d | sh'`;
}

export interface StartScript {
  readonly folder: string;
  readonly argv: readonly string[];
  /** Small input, a file that was uploaded before, or pieces that come later. */
  readonly input: ScriptInput;
}

export type ScriptInput = { readonly bytes: Uint8Array } | { readonly file: string } | "open" | "none";

/**
 * Starts the program unless an earlier copy of this request did. Waits for its first news, except when it may
 * wait for input that comes with a later request.
 */
export function startScript({ folder, argv, input }: StartScript): string {
  const given = {
    folder,
    supervisor: SUPERVISOR,
    input: typeof input === "string" ? input : "file",
    uploaded: typeof input === "object" && "file" in input ? input.file : "",
    bytes: typeof input === "object" && "bytes" in input ? base64(input.bytes) : "",
  };
  const firstPoll = { folder, stdout: 0, stderr: 0, seen_stdout: 0, seen_stderr: 0, known: "" };
  const poll = pollScript({ ...firstPoll, wait: input === "open" ? "no" : "news" });
  return `${assigned(given)}${argumentsOf(argv)}${START}${poll}`;
}

/** See poll.sh. */
export interface Poll {
  readonly folder: string;
  readonly stdout: number;
  readonly stderr: number;
  readonly seen_stdout: number;
  readonly seen_stderr: number;
  readonly known: string;
  readonly wait: "news" | "no";
}

/** Answers with pieces and news as soon as there are any; see `readAnswer`. */
export function pollScript(poll: Poll): string {
  return assigned({ ...poll }) + POLL;
}

/** Stores one piece of input; answers "full" when the program has not read the earlier ones yet. */
export function inputScript(
  folder: string,
  piece: { readonly number: number; readonly bytes: Uint8Array },
): string {
  return assigned({ folder, number: piece.number, bytes: base64(piece.bytes) }) + INPUT;
}

export function inputEndScript(folder: string): string {
  return assigned({ folder, number: "" }) + INPUT;
}

/** Removes what programs that are over left behind. */
export function forgetScript(folders: readonly string[]): string {
  return folders.length === 0 ? "" : assigned({ folders: folders.join(" ") }) + FORGET;
}

/** Runs a program between two marks; see terminal.sh. */
export function terminalScript(argv: readonly string[], mark: string): string {
  return assigned({ mark }) + argumentsOf(argv) + TERMINAL;
}

function assigned(variables: Readonly<Record<string, string | number>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoteForShell(String(value))}\n`)
    .join("");
}

function argumentsOf(argv: readonly string[]): string {
  return `set -- ${argv.map(quoteForShell).join(" ")}\n`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

export interface Answer {
  /** False when the script did not run to its end, for instance because a program it needs is missing. */
  readonly complete: boolean;
  readonly gone: boolean;
  /** Output could not be stored. */
  readonly full: boolean;
  /** The supervisor was killed before it could tell how the program ended. */
  readonly dead: boolean;
  readonly exitCode: number | undefined;
  readonly stdout: Piece | undefined;
  readonly stderr: Piece | undefined;
  readonly stdoutEnded: boolean;
  readonly stderrEnded: boolean;
}

export interface Piece {
  readonly bytes: Uint8Array;
  /** The number of the piece that comes next. */
  readonly next: number;
}

export function readAnswer(text: string): Answer {
  const lines = text.split("\n").map((line) => line.split(" "));
  const find = (...words: string[]) => lines.find((line) => words.every((word, at) => line[at] === word));
  const piece = (stream: string): Piece | undefined => {
    const line = find(stream);
    if (line === undefined) return undefined;
    return { bytes: Buffer.from(line[2] ?? "", "base64"), next: Number(line[1]) };
  };
  const exit = find("exit");
  return {
    complete: find("complete") !== undefined,
    gone: find("gone") !== undefined,
    full: find("full") !== undefined,
    dead: find("dead") !== undefined,
    exitCode: exit === undefined ? undefined : Number(exit[1]),
    stdout: piece("o"),
    stderr: piece("e"),
    stdoutEnded: find("end", "o") !== undefined,
    stderrEnded: find("end", "e") !== undefined,
  };
}
