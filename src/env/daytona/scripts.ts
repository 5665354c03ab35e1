import { quoteForShell } from "../../base/quote.js";

/**
 * The service runs a command and answers with everything it printed as one text. Real streams are made of that:
 * a small supervisor in the sandbox runs the program, cuts its two streams into numbered pieces, and each request
 * fetches the pieces that are ready, waiting for the first one. A piece is deleted only when a later request says
 * that it has arrived, so a broken connection loses nothing; a program that prints faster than its pieces are
 * fetched has to wait.
 */

/** How long a request waits for news. */
export const WAIT_SECONDS = 20;
const ROUND_SECONDS = 2;
const PIECE_BYTES = 65_536;
/** Pieces of one stream that may lie around, and that one answer brings. */
export const MAX_PIECES = 64;
/** Pieces of input that may lie around. */
const MAX_INPUT_PIECES = 8;

/** A group of its own, so that ending one side does not end the other. */
const OWN_SESSION = "own=; if command -v setsid >/dev/null; then own=setsid; fi";

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
export function startScript(start: StartScript): string {
  const { folder, argv, input } = start;
  const supervisor = supervisorScript(typeof input === "string" ? input : "file");
  const firstPoll = { folder, stdout: 0, stderr: 0, seenStdout: 0, seenStderr: 0, known: "" };
  return `umask 077
if mkdir ${folder} 2>/dev/null; then
  cd ${folder} || exit
  ${inputFile(input)}
  mkfifo o e b c
  ${OWN_SESSION}
  $own sh -c ${quoteForShell(supervisor)} sh ${argv.map(quoteForShell).join(" ")} </dev/null >/dev/null 2>&1 &
  echo $! > p
fi
${pollScript({ ...firstPoll, wait: input === "open" ? "no" : "news" })}`;
}

function inputFile(input: ScriptInput): string {
  if (typeof input === "string") return "";
  if ("file" in input) return `mv -- ${quoteForShell(input.file)} in`;
  return `printf %s ${Buffer.from(input.bytes).toString("base64")} | base64 -d > in`;
}

function supervisorScript(input: "none" | "file" | "open"): string {
  const program = `$own sh -c 'cd /; exec "$@"' sh "$@"`;
  const run = {
    none: `${program} </dev/null >o 2>e 9>&-; finish $?`,
    file: `${program} <in >o 2>e 9>&-; finish $?`,
    // A pipe and not a named one: programs are asked whether they wait for their input.
    open: `exec 8<>c
feed 2>/dev/null 9>&- | { ${program} >o 2>e 8>&- 9>&-; finish $?; echo >&8; }`,
  }[input];
  return `${OWN_SESSION}
exec 9<>b
pump() {
  n=0
  while :; do
    dd of=$1.$n bs=${PIECE_BYTES} count=1 2>/dev/null || : > full
    [ -s $1.$n ] || break
    : > $1.$n.ok
    n=$((n+1))
    echo >&9
    while [ -e $1.$((n-${MAX_PIECES})).ok ]; do sleep 0.02 || sleep 1; done
  done
  : > $1.end
  echo >&9
}
feed() {
  n=0
  while [ ! -e x ]; do
    if [ -e i.$n.ok ]; then cat i.$n || return; rm -f i.$n i.$n.ok; n=$((n+1))
    elif [ -e i.end ]; then return
    else dd if=c of=/dev/null bs=512 count=1 2>/dev/null
    fi
  done
}
finish() { echo $1 > x.part; mv x.part x; echo >&9; }
pump o <o &
pump e <e &
${run}
wait`;
}

export interface Poll {
  readonly folder: string;
  /** Pieces of each stream that have arrived. */
  readonly stdout: number;
  readonly stderr: number;
  /** How many of them an earlier request named already: those are deleted. */
  readonly seenStdout: number;
  readonly seenStderr: number;
  /** What is known: x (exit code), o and e (end of a stream). */
  readonly known: string;
  /** Wait until there is news, only a moment, or not at all. */
  readonly wait: "news" | "moment" | "no";
}

/** Answers with pieces and news as soon as there are any; see `readAnswer`. */
export function pollScript(poll: Poll): string {
  const { folder, stdout, stderr, seenStdout, seenStderr, known, wait } = poll;
  const unknown = (mark: string, test: string) => (known.includes(mark) ? "false" : test);
  return `cd ${folder} 2>/dev/null || { echo gone; exit; }
drop() { s=$1 n=$2 end=$3; set --; while [ $n -lt $end ]; do set -- "$@" $s.$n $s.$n.ok; n=$((n+1)); done; [ $# = 0 ] || rm -f "$@"; }
drop o ${seenStdout} ${stdout}
drop e ${seenStderr} ${stderr}
# Held open from before the first look: a bell that rings in between must not be lost with its last ringer.
bell=; if [ -p b ] && command -v timeout >/dev/null; then exec 7<>b; bell=1; fi
dead() { [ -s p ] && [ ! -e x ] && read -r pid <p && ! kill -0 "$pid" 2>/dev/null && [ ! -e x ]; }
news() {
  [ -e o.${stdout}.ok ] || [ -e e.${stderr}.ok ] || ${unknown("x", "[ -e x ]")} || ${unknown("o", "[ -e o.end ]")} || ${unknown("e", "[ -e e.end ]")} || dead
}
${wait === "moment" ? "news || sleep 0.1" : ""}
rounds=${wait === "news" ? WAIT_SECONDS / ROUND_SECONDS : 0}
until news || [ $rounds = 0 ]; do
  if [ $bell ]; then timeout ${ROUND_SECONDS} dd of=/dev/null bs=512 count=1 <&7 2>/dev/null || rounds=$((rounds-1))
  else sleep 1; rounds=$((rounds-1))
  fi
done
# Most of what belongs together arrives together, and every answer is a way there and back.
if [ $rounds != 0 ] && [ ! -e x ]; then sleep 0.03; fi
tries=16
while [ -e x ] && [ $tries != 0 ] && { [ ! -e o.end ] || [ ! -e e.end ]; }; do tries=$((tries-1)); sleep 0.025 || sleep 1; done
give() {
  s=$1 n=$2
  set --
  while [ -e $s.$n.ok ] && [ $# -lt ${MAX_PIECES} ]; do set -- "$@" $s.$n; n=$((n+1)); done
  if [ $# != 0 ]; then printf '%s %s ' $s $n; cat "$@" | base64 | tr -d '\\n'; echo; fi
  if [ -e $s.end ] && [ ! -e $s.$n.ok ]; then echo "end $s"; fi
}
if dead; then echo dead; fi
if [ -e full ]; then echo full; fi
if [ -e x ] && read -r code <x; then echo "exit $code"; fi
give o ${stdout}
give e ${stderr}
echo complete`;
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

/** Stores one piece of input; answers "full" when the program has not read the earlier ones yet. */
export function inputScript(input: {
  readonly folder: string;
  readonly number: number;
  readonly bytes: Uint8Array;
}): string {
  const { folder, number, bytes } = input;
  return `cd ${folder} 2>/dev/null || exit
tries=100
while [ -e i.${number - MAX_INPUT_PIECES}.ok ] && [ ! -e x ]; do
  tries=$((tries-1)); [ $tries = 0 ] && { echo full; exit; }
  sleep 0.1 || sleep 1
done
read -r pid <p && kill -0 "$pid" 2>/dev/null && [ ! -e x ] || exit
printf %s ${Buffer.from(bytes).toString("base64")} | base64 -d > i.${number}
: > i.${number}.ok
echo >c`;
}

export function inputEndScript(folder: string): string {
  return `cd ${folder} 2>/dev/null || exit
read -r pid <p && kill -0 "$pid" 2>/dev/null && [ ! -e x ] || exit
: > i.end
echo >c`;
}

/**
 * Removes what programs that are over left behind. A supervisor that still runs is ended; its program has a
 * process group of its own and goes on without its streams.
 */
export function forgetScript(folders: readonly string[]): string {
  if (folders.length === 0) return "";
  return `for d in ${folders.join(" ")}; do
  [ -e $d/x ] && [ -e $d/o.end ] && [ -e $d/e.end ] || { read -r pid <$d/p && kill -9 -- -$pid; }
done 2>/dev/null
rm -rf ${folders.join(" ")}
`;
}
