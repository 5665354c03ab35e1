import { simpleParser } from "mailparser";
import { EmailGateway } from "../../src/gateway/email/email.js";
import { type MailServer, startMailServer } from "../support/mail-server.js";
import { ImapServer } from "../support/platforms/imap-server.js";
import type { SentFile } from "../support/platforms/multipart.js";

export const AGENT = "hermes@example.org";

export interface Mailbox {
  readonly imap: ImapServer;
  readonly smtp: MailServer;
  open(): EmailGateway;
  sentFiles(): Promise<readonly SentFile[]>;
  /** Texts of the mails that went out. */
  shown(): readonly string[];
}

export async function mailbox(options: Parameters<typeof startMailServer>[0] = {}): Promise<Mailbox> {
  const imap = await new ImapServer().listen();
  const smtp = await startMailServer(options);
  return {
    imap,
    smtp,
    open: () =>
      new EmailGateway({
        imapUrl: imap.url,
        smtpUrl: smtp.url,
        address: AGENT,
        servers: ["mx.example.org"],
        loadImap: () => import("imapflow"),
        loadParser: () => import("mailparser"),
        lookEveryMs: 100,
        traits: { paceMs: 0, maxChars: 4_000 },
      }),
    async sentFiles() {
      const mails = await Promise.all(smtp.received.map(({ raw }) => simpleParser(raw)));
      return mails.flatMap(({ attachments }) =>
        attachments.map(({ filename = "", content }) => ({
          name: filename,
          content: content.toString("latin1"),
        })),
      );
    },
    shown: () => smtp.received.map(({ raw }) => bodyOf(raw)),
  };
}

export interface MailDraft {
  readonly id?: string | undefined;
  readonly from?: string | undefined;
  readonly text: string;
  readonly thread?: string | undefined;
  readonly attachment?:
    | { readonly name: string; readonly mimeType: string; readonly bytes: Buffer }
    | undefined;
  /** In place of what a mail of this sender would have. */
  readonly headers?: readonly string[] | undefined;
}

let counter = 0;

/** As our own server would store it: with its verdict on top. */
export function mail({
  id,
  from = "ann@friends.example",
  text,
  thread,
  headers,
  attachment,
}: MailDraft): string {
  counter += 1;
  const messageId = `<${id ?? `m${counter}`}@friends.example>`;
  const domain = from.split("@")[1];
  return [
    ...(headers ?? [
      `Authentication-Results: mx.example.org; dkim=pass header.d=${domain}; dmarc=pass (p=none) header.from=${domain}`,
    ]),
    `From: Ann <${from}>`,
    `To: ${AGENT}`,
    `Message-ID: ${messageId}`,
    ...(thread === undefined ? [] : [`References: <${thread}@friends.example>`]),
    ...(attachment === undefined
      ? ["Content-Type: text/plain; charset=utf-8", "", text]
      : [
          'Content-Type: multipart/mixed; boundary="b"',
          "",
          "--b",
          "Content-Type: text/plain; charset=utf-8",
          "",
          text,
          "--b",
          `Content-Type: ${attachment.mimeType}`,
          `Content-Disposition: attachment; filename="${attachment.name}"`,
          "Content-Transfer-Encoding: base64",
          "",
          attachment.bytes.toString("base64"),
          "--b--",
        ]),
    "",
  ].join("\r\n");
}

function bodyOf(raw: string): string {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  // A file without a word beside it is the whole mail.
  if (/^content-disposition: attachment/im.test(head)) return "";
  const boundary = /^content-type: multipart\/[^;]+;\s+boundary="([^"]+)"/im.exec(head)?.[1];
  if (boundary !== undefined) {
    const isText = (part: string) =>
      /^content-type: text\/plain/im.test(part) && !/^content-disposition: attach/im.test(part);
    return bodyOf(body.split(`--${boundary}\r\n`).find(isText) ?? "");
  }
  const encoding = /^content-transfer-encoding: (\S+)/im.exec(head)?.[1]?.toLowerCase();
  const plain =
    encoding === "base64"
      ? Buffer.from(body, "base64").toString("utf8")
      : encoding === "quoted-printable"
        ? body
            .replace(/=\r\n/g, "")
            .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        : body;
  return plain.replaceAll("\r\n", "\n").trim();
}
