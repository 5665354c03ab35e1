import type { Update, User } from "grammy/types";
import type { Attachment, IncomingMessage, Person } from "../gateway.js";

export type TelegramUpdate = Pick<Update, "update_id" | "message" | "callback_query">;

export function personOf(user: User): Person {
  const { id, first_name, last_name } = user;
  return { id: String(id), name: [first_name, last_name].filter((part) => part !== undefined).join(" ") };
}

/** Undefined for what nobody wrote: that somebody joined, a channel's own posts, what another bot says. */
export function incomingOf({ update_id, message }: TelegramUpdate): IncomingMessage | undefined {
  const from = message?.from;
  if (message === undefined || from === undefined || from.is_bot) return undefined;
  const attachments = attachmentsOf(message);
  const text = message.text ?? message.caption ?? "";
  if (text === "" && attachments.length === 0) return undefined;
  return {
    id: String(update_id),
    chat: String(message.chat.id),
    person: personOf(from),
    text,
    sentAt: message.date * 1_000,
    isPrivate: message.chat.type === "private",
    ...(attachments.length > 0 && { attachments }),
    ...(message.is_topic_message === true &&
      message.message_thread_id !== undefined && { replyTo: String(message.message_thread_id) }),
  };
}

function attachmentsOf(message: NonNullable<TelegramUpdate["message"]>): readonly Attachment[] {
  const { photo = [], document, voice, audio, video } = message;
  const largest = photo.at(-1);
  return [
    ...(largest === undefined
      ? []
      : [{ ref: largest.file_id, name: "photo.jpg", mimeType: "image/jpeg", bytes: largest.file_size }]),
    ...[
      { file: document, name: "document", mimeType: "application/octet-stream" },
      { file: voice, name: "voice.ogg", mimeType: "audio/ogg" },
      { file: audio, name: "audio", mimeType: "audio/mpeg" },
      { file: video, name: "video.mp4", mimeType: "video/mp4" },
    ].flatMap(({ file, name, mimeType }) =>
      file === undefined
        ? []
        : [
            {
              ref: file.file_id,
              name: ("file_name" in file ? file.file_name : undefined) ?? name,
              mimeType: file.mime_type ?? mimeType,
              bytes: file.file_size,
            },
          ],
    ),
  ];
}
