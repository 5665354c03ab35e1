import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errno.js";
import { ageText, sizeText } from "../base/human.js";
import { type Content, text } from "../tool/content.js";
import type { Attachment, Gateway } from "./gateway.js";
import type { InboxRow } from "./inbox.js";

/** Pictures a model can look at; larger ones are files. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MAX_PICTURE_BYTES = 5 * 1_048_576;
const MAX_FILE_BYTES = 50 * 1_048_576;

/** What a model is told of a message: its words, who wrote it, how old it is by now, and what came with it. */
export async function toldMessage(parts: {
  readonly row: InboxRow;
  readonly gateway: Gateway;
  /** Where files are put. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly now?: number | undefined;
}): Promise<string | readonly Content[]> {
  const { row, gateway, now = Date.now() } = parts;
  const { message } = row;
  const sent = new Date(message.sentAt).toISOString().slice(0, 16).replace("T", " ");
  const name = message.person.name.replace(/[\r\n[\]]/g, " ").slice(0, 80);
  // Behind the words: the title of a conversation is made of its beginning.
  const about = `[${name}, ${gateway.platform}, sent ${ageText(now - message.sentAt)} ago, ${sent} UTC]`;
  const fetched = await Promise.all((message.attachments ?? []).map((each) => fetchOne(each, parts)));
  const notes = fetched.flatMap((each) => (typeof each === "string" ? [each] : []));
  const words = [message.text, [...notes, about].join("\n")].filter((each) => each !== "").join("\n\n");
  const pictures = fetched.filter((each) => typeof each !== "string");
  return pictures.length === 0 ? words : [text(words), ...pictures];
}

async function fetchOne(
  attachment: Attachment,
  { row, gateway, folder, signal }: Parameters<typeof toldMessage>[0],
): Promise<string | Content> {
  const { ref, mimeType, bytes = 0 } = attachment;
  const name =
    attachment.name
      .replace(/[^\p{L}\p{N}._-]+/gu, "_")
      .replace(/^\.+/, "_")
      .slice(-100) || "file";
  if (bytes > MAX_FILE_BYTES)
    return `[file ${name} was not fetched: ${sizeText(bytes, "decimal")} is more than is taken]`;
  try {
    const data = await gateway.download?.(ref, signal);
    if (data === undefined) return `[file ${name} was not fetched: this gateway carries none]`;
    if (data.length > MAX_FILE_BYTES) return `[file ${name} was not kept: it is too large]`;
    if (PICTURES.has(mimeType) && data.length <= MAX_PICTURE_BYTES)
      return { type: "image", data: Buffer.from(data).toString("base64"), mimeType };
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${row.seq}-${name}`);
    await writeFile(path, data, { mode: 0o600 });
    return `[file ${name}, ${mimeType}, ${sizeText(data.length, "decimal")}: ${path}]`;
  } catch (error) {
    return `[file ${name} could not be fetched: ${messageOf(error)}]`;
  }
}
