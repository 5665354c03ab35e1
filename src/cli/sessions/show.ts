import { eachMessage, publicConversation, publicMessage } from "../../agent/sessions/public.js";
import type { StoredMessage } from "../../agent/sessions/types.js";
import { visibleLines } from "../../base/visible-text.js";
import { textOf } from "../../tool/content.js";
import type { CommandContext } from "../context.js";
import { positiveInteger } from "../input.js";
import { jsonLine } from "../output.js";
import { withConversation, write } from "./open.js";

export function show(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const last = options.last === undefined ? undefined : positiveInteger(options.last, "--last");
  return withConversation(context, async (store, conversation) => {
    const { id, title, model, state } = conversation;
    const messages = last === undefined ? eachMessage(store, id) : await store.messages(id, { last });
    if (out.json) return writeJson(publicConversation(conversation), messages);
    out.line(`${out.color.bold(visibleLines(title))}  ${out.color.dim(`${id} · ${model} · ${state}`)}`);
    for await (const message of messages) {
      const when = new Date(message.at).toLocaleString("sv-SE");
      await write(
        `\n${out.color.cyan(message.role)} ${out.color.dim(when)}\n${visibleLines(said(message))}\n`,
      );
    }
  });
}

/** Piece by piece: the whole may be larger than memory. */
async function writeJson(
  about: Readonly<Record<string, unknown>>,
  messages: AsyncIterable<StoredMessage> | Iterable<StoredMessage>,
): Promise<void> {
  const { messages: _count, ...rest } = about;
  await write(`${jsonLine(rest).slice(0, -2)},"messages":[`);
  let separator = "";
  for await (const message of messages) {
    await write(separator + jsonLine(publicMessage(message)).trimEnd());
    separator = ",";
  }
  await write("]}\n");
}

/** What a message says, and what it calls. */
export function said({ content, toolCalls = [] }: StoredMessage): string {
  const calls = toolCalls.map(
    ({ name, arguments: given }) => `${name} ${typeof given === "string" ? given : JSON.stringify(given)}`,
  );
  return [typeof content === "string" ? content : textOf(content), ...calls].filter(Boolean).join("\n");
}
