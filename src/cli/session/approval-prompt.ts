import { setTimeout as pause } from "node:timers/promises";
import type { ApprovalReply, ApprovalRequest, Approver } from "../../call/scope.js";
import type { Output } from "../output.js";
import { offersAlways, offersSession, questionLines, rememberLines } from "./approval-text.js";

interface Terminal {
  readonly out: Output;
  /** What Ctrl-C does: the prompt reads the keys itself, so no signal comes. */
  interrupt(): void;
  /** Keeps everything else off the terminal meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Asks on the terminal. Without one there is nobody to ask, and the call is denied. */
export function terminalApprover(terminal: Terminal): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  // Two prompts at once would mix: the second waits for the first.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    ask(request, signal) {
      const answer = queue.then(() => terminal.alone(() => prompt(request, signal, terminal)));
      queue = answer.catch(() => undefined);
      return answer;
    },
  };
}

const DENIED: ApprovalReply = { answer: "deny", by: "terminal" };

async function prompt(
  request: ApprovalRequest,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<ApprovalReply> {
  if (signal.aborted) return DENIED;
  await dropTypedAhead(terminal);
  const reader = await openReader({ request, signal, terminal });
  try {
    return await ask(request, reader, terminal.out);
  } finally {
    reader.close();
    if (signal.aborted && Date.now() >= request.expiresAt - 1_000)
      process.stderr.write(`${terminal.out.color.yellow("   No answer in time: denied.")}\n`);
  }
}

async function ask(request: ApprovalRequest, reader: Reader, out: Output): Promise<ApprovalReply> {
  const session = offersSession(request);
  const always = offersAlways(request);
  const words = ["[o]nce", ...(session ? ["[s]ession"] : []), ...(always ? ["[a]lways"] : [])];
  const letters = ["o", ...(session ? ["s"] : []), ...(always ? ["a"] : []), "v", "D"].join("/");
  const page = { out, columns: process.stderr.columns || 80 };
  show([...questionLines(request, page), `   ${[...words, "[d]eny", "[v]iew"].join(" | ")}`]);
  for (;;) {
    switch (await reader.read(letters)) {
      case "o":
      case "once":
        return { answer: "once", by: "terminal" };
      case "s":
      case "session":
        if (session) return { answer: "session", by: "terminal" };
        explain(words);
        break;
      case "a":
      case "always":
        if (always) return askExtent(request, reader, page);
        explain(words);
        break;
      case "v":
      case "view":
        show([...questionLines(request, { ...page, whole: true }), `   ${words.join(" | ")} | [d]eny`]);
        break;
      case undefined:
      case "":
      case "d":
      case "deny":
      case "n":
      case "no":
        return DENIED;
      default:
        explain(words);
    }
  }
}

/** A slip of the finger is no answer, and neither is a question. */
function explain(words: readonly string[]): void {
  show([`   Type one of: ${words.join(" | ")} | [d]eny | [v]iew everything; Enter denies.`]);
}

/** Remembering more than was asked about is a choice of its own, made after seeing what it covers. */
async function askExtent(
  request: ApprovalRequest,
  reader: Reader,
  page: { readonly out: Output; readonly columns: number },
): Promise<ApprovalReply> {
  show([...rememberLines(request, page), "   [e]xact | [w]iden | [d]eny"]);
  switch (await reader.read("E/w/d")) {
    case "":
    case "e":
    case "exact":
      return { answer: "always", by: "terminal" };
    case "w":
    case "widen":
      return { answer: "always", widen: true, by: "terminal" };
    default:
      return DENIED;
  }
}

function show(lines: readonly string[]): void {
  process.stderr.write(`${lines.join("\n")}\n`);
}

interface Reader {
  /** The typed word in small letters; undefined when the person or the call left without an answer. */
  read(letters: string): Promise<string | undefined>;
  close(): void;
}

const SECOND_MS = 1_000;

async function openReader(options: {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}): Promise<Reader> {
  const { request, signal, terminal } = options;
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: process.stdin, output: process.stderr, historySize: 0 });
  reader.once("SIGINT", terminal.interrupt);
  const gone = new Promise<undefined>((resolve) => {
    // Ctrl-D closes the reader: that is no answer, so no consent.
    reader.once("close", () => resolve(undefined));
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    if (signal.aborted) resolve(undefined);
  });
  return {
    async read(letters) {
      const ask = () => {
        const seconds = Math.max(0, Math.ceil((request.expiresAt - Date.now()) / SECOND_MS));
        reader.setPrompt(`   Choice [${letters}], ${seconds} s left: `);
        reader.prompt(true);
      };
      const typed = new Promise<string>((resolve) => reader.once("line", resolve));
      ask();
      // A simple terminal cannot rewrite its line: there the time is said once.
      const countdown = terminal.out.ascii ? undefined : setInterval(ask, SECOND_MS);
      try {
        return (await Promise.race([typed, gone]))?.trim().toLowerCase();
      } finally {
        clearInterval(countdown);
      }
    },
    close() {
      reader.close();
      if (signal.aborted) process.stderr.write("\n");
    },
  };
}

const TYPED_AHEAD_MS = 30;
const CTRL_C = 0x03;

/** What was typed before the question was on the screen cannot have been an answer to it. */
async function dropTypedAhead({ interrupt }: Terminal): Promise<void> {
  const { stdin } = process;
  const drop = (typed: Buffer | string) => {
    if (Buffer.from(typed).includes(CTRL_C)) interrupt();
  };
  stdin.setRawMode(true);
  stdin.on("data", drop);
  await pause(TYPED_AHEAD_MS);
  stdin.off("data", drop);
}
