import { createHash } from "node:crypto";

/** Headers that machines put on what they write by themselves. Names in lower case, values as they came. */
export interface MailMarks {
  readonly from: string;
  readonly messageId: string;
  header(name: string): string | undefined;
}

const MACHINES = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:\+[^@]*)?@/i;
const OUR_ID = /^<hermes-\d+\.[0-9a-f]+@/;

/** Why a mail is not answered: two machines that answer each other do not stop. */
export function whyNotAnswered(mail: MailMarks, ownAddress: string): string | undefined {
  const { from, messageId, header } = mail;
  if (from === ownAddress.toLowerCase() || OUR_ID.test(messageId)) return "it is our own";
  const submitted = header("auto-submitted")?.toLowerCase() ?? "no";
  if (!submitted.startsWith("no")) return "a machine sent it by itself";
  if (/^\s*(?:bulk|junk|list|auto_reply)/i.test(header("precedence") ?? "")) return "it went to many";
  if (header("list-id") !== undefined || header("list-unsubscribe") !== undefined)
    return "it is of a mailing list";
  if (header("x-auto-response-suppress") !== undefined || header("x-autoreply") !== undefined)
    return "a machine sent it by itself";
  if (header("return-path")?.replace(/\s/g, "") === "<>" || MACHINES.test(from)) return "it is a bounce";
  if (/multipart\/report/i.test(header("content-type") ?? "")) return "it is a report";
  return undefined;
}

/** What somebody wrote, without the mail they answered to and their signature. */
export function ownWords(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const end = lines.findIndex(
    (line, at) =>
      line.startsWith(">") ||
      line === "-- " ||
      /^-{2,} ?(?:original message|forwarded message|ursprüngliche nachricht)/i.test(line) ||
      (/^(?:on|am|le|el)\b.*:$/i.test(line.trim()) &&
        lines.slice(at + 1).some((later) => later.startsWith(">"))),
  );
  const kept = end === -1 ? lines : lines.slice(0, end);
  return kept.join("\n").trim();
}

/** The same for the same part: whoever gets it twice can tell. */
export function mailId(part: {
  readonly id: string;
  readonly chat: string;
  readonly address: string;
}): string {
  const { id, chat, address } = part;
  const mark = createHash("sha256").update(chat).digest("hex").slice(0, 12);
  return `<${id}.${mark}@${address.split("@")[1] ?? "localhost"}>`;
}
