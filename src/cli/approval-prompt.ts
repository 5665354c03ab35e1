import type { ApprovalAnswer, ApprovalRequest, Approver } from "../call/scope.js";
import type { Output } from "./output.js";

/** Asks on the terminal. Without one there is nobody to ask, and the call is denied. */
export function terminalApprover(out: Output): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  // Two prompts at once would mix: the second waits for the first.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    ask(request, signal) {
      const answer = queue.then(() => prompt(request, signal, out));
      queue = answer.catch(() => undefined);
      return answer;
    },
  };
}

async function prompt(request: ApprovalRequest, signal: AbortSignal, out: Output): Promise<ApprovalAnswer> {
  const { color } = out;
  const lines = [
    "",
    `${out.ascii ? "!!" : "⚠️ "} ${color.yellow(`${request.tool}: ${request.reason}`)}`,
    ...request.effects.map((effect) => `   ${effect.action}  ${visible(effect.resource)}`),
    `   environment ${request.environment}, folder ${visible(request.session.cwd)}, rule ${request.rule}`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = (await reader.question("   [o]nce | [s]ession | [d]eny   Choice [o/s/D]: ", { signal }))
      .trim()
      .toLowerCase();
    if (typed === "o" || typed === "once") return "once";
    return typed === "s" || typed === "session" ? "session" : "deny";
  } finally {
    reader.close();
  }
}

/** Control, bidi and zero-width characters are written out: what is shown is what will run. */
function visible(text: string): string {
  return text.replace(
    /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
