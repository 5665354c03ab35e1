import type { APIMessage } from "discord.js";
import type { IncomingMessage } from "../gateway.js";

/** As the gateway delivers it; what is fetched later lacks the server. */
export type GatewayMessage = APIMessage & { readonly guild_id?: string | undefined };

/** Undefined for what bots say, and in a server's channel for what is not said to this one. */
export function incomingOf(
  message: APIMessage,
  { self, isPrivate }: { readonly self: string | undefined; readonly isPrivate: boolean },
): IncomingMessage | undefined {
  if (message.author.bot === true || self === undefined) return undefined;
  if (!isPrivate && !message.mentions.some(({ id }) => id === self)) return undefined;
  const attachments = message.attachments.map(({ url, filename, content_type, size }) => ({
    ref: url,
    name: filename,
    mimeType: content_type ?? "application/octet-stream",
    bytes: size,
  }));
  const text = message.content.replaceAll(new RegExp(`<@!?${self}>`, "g"), "").trim();
  if (text === "" && attachments.length === 0) return undefined;
  const { id, username, global_name: name } = message.author;
  return {
    id: message.id,
    chat: message.channel_id,
    person: { id, name: name ?? username },
    text,
    sentAt: Date.parse(message.timestamp),
    isPrivate,
    ...(attachments.length > 0 && { attachments }),
  };
}
