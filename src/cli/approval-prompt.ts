import type { ApprovalAnswer, ApprovalRequest, Approver } from "../call/scope.js";
import type { Output } from "./output.js";
import { visible } from "./visible-text.js";

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

async function prompt(
  request: ApprovalRequest,
  signal: AbortSignal,
  { out, interrupt }: Terminal,
): Promise<ApprovalAnswer> {
  if (signal.aborted) return "deny";
  const lines = [
    "",
    `${out.ascii ? "!!" : "⚠️ "} ${out.color.yellow(`${request.tool}: ${visible(request.reason)}`)}`,
    ...request.effects.map((effect) => `   ${effect.action}  ${visible(effect.resource)}`),
    `   environment ${request.environment}, folder ${visible(request.session.cwd)}, rule ${visible(request.rule)}`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  reader.once("SIGINT", interrupt);
  // Ctrl-D closes the reader and leaves the question open: that is no answer, so no consent.
  const closed = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  try {
    const typed = reader.question("   [o]nce | [s]ession | [d]eny   Choice [o/s/D]: ", { signal });
    return meaningOf(await Promise.race([typed, closed]));
  } catch (error) {
    if (signal.aborted) return "deny";
    throw error;
  } finally {
    reader.close();
  }
}

function meaningOf(typed: string): ApprovalAnswer {
  const word = typed.trim().toLowerCase();
  if (word === "o" || word === "once") return "once";
  return word === "s" || word === "session" ? "session" : "deny";
}
