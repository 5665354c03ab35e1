import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

/** A chat on the terminal; a single question and answer with `-q`, or where there is no terminal. */
export async function chat(context: CommandContext): Promise<void> {
  const { query, resume } = context.options;
  const message = typeof query === "string" ? query : undefined;
  const isOnTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (message === undefined && isOnTerminal && !context.out.json) {
    if (process.env.TERM === "dumb")
      throw commandError("unavailable", "This terminal cannot move its cursor (TERM=dumb)", "Use -q TEXT.");
    return (await import("./interactive.js")).chatInteractively(context);
  }
  if (message === undefined && typeof resume !== "string")
    throw commandError(
      "bad_request",
      "Say what you want with -q TEXT",
      'For example: hermes chat -q "what is in this folder?"',
    );
  await (await import("./one-shot.js")).askOnce(context, message);
}
