import { readFile } from "node:fs/promises";
import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { ParsedMail } from "mailparser";
import { pause } from "../../base/deadline.js";
import { errnoOf, messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { readSmtpUrl } from "../../tools/messaging/mail/smtp-url.js";
import type {
  Gateway,
  GatewayTraits,
  IncomingMessage,
  OutgoingPart,
  Receiver,
  SendOutcome,
} from "../gateway.js";
import { GatewayRefused } from "../supervisor.js";
import { readImapUrl } from "./imap-url.js";
import { mailId, ownWords, whyNotAnswered } from "./mail-text.js";
import { verifiedSender } from "./verified-sender.js";

/** How often the server is asked where it does not tell by itself. */
const LOOK_EVERY_MS = 30_000;
const MAX_MAIL_BYTES = 25 * 1_048_576;
/** Older mail that nobody has read is not for us: a mailbox may have existed for years. */
const OLDEST_MS = 24 * 3_600_000;

const TRAITS: GatewayTraits = {
  // Nobody reads more in one mail.
  maxChars: 50_000,
  paceMs: 1_000,
  silenceMs: 4 * LOOK_EVERY_MS,
  mostPerHour: 20,
  maxFileBytes: 18 * 1_048_576,
  buttons: false,
  edits: false,
  knowsRepeats: true,
  attended: true,
  // A mail to somebody who only claims to be there would reach others.
  pairs: false,
};

export interface EmailSettings {
  readonly imapUrl: string;
  readonly smtpUrl: string;
  readonly address: string;
  /** Names in `Authentication-Results` whose verdict counts. */
  readonly servers: readonly string[];
  loadImap(): Promise<typeof import("imapflow")>;
  loadParser(): Promise<typeof import("mailparser")>;
  readonly lookEveryMs?: number | undefined;
  readonly traits?: Partial<GatewayTraits> | undefined;
}

/** What is needed to answer a mail. */
interface ReplyTo {
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  readonly references: readonly string[];
}

/** A mailbox: IMAP in, SMTP out. A thread is a chat; answers go to the verified sender, whatever `Reply-To` says. */
export class EmailGateway implements Gateway {
  readonly name = "email";
  readonly platform = "email";
  readonly traits: GatewayTraits;
  readonly #settings: EmailSettings;
  #client: ImapFlow | undefined;

  constructor(settings: EmailSettings) {
    this.#settings = settings;
    this.traits = { ...TRAITS, ...settings.traits };
  }

  async receive(receiver: Receiver, signal: AbortSignal): Promise<void> {
    const client = await this.#connect();
    this.#client = client;
    const news = new Wake();
    client.on("exists", () => news.wake());
    client.on("close", () => news.wake());
    // Told by the command that fails.
    client.on("error", () => news.wake());
    try {
      await client.mailboxOpen("INBOX");
      while (!signal.aborted && client.usable) {
        await this.#look(client, receiver);
        receiver.alive();
        await news.wait(this.#settings.lookEveryMs ?? LOOK_EVERY_MS, signal);
        if (!signal.aborted) await client.noop();
      }
    } finally {
      this.#client = undefined;
      client.close();
    }
  }

  async #look(client: ImapFlow, receiver: Receiver): Promise<void> {
    const since = new Date(Date.now() - OLDEST_MS);
    const found = (await client.search({ seen: false, since }, { uid: true })) || [];
    for (const uid of found) {
      const fetched = await client.fetchOne(
        String(uid),
        { uid: true, internalDate: true, source: { maxLength: MAX_MAIL_BYTES } },
        { uid: true },
      );
      if (!fetched || fetched.source === undefined) continue;
      const message = await this.#incoming(fetched);
      if (message !== undefined) await receiver.message(message);
      // Only now: a mail that is not on disk yet is looked at again.
      await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
    }
  }

  /** Undefined for what is not answered: machines, and senders that nobody has verified. */
  async #incoming({ uid, source, internalDate }: FetchMessageObject): Promise<IncomingMessage | undefined> {
    const { simpleParser } = await this.#settings.loadParser();
    const mail = await simpleParser(source ?? Buffer.alloc(0));
    const sender = mail.from?.value;
    const from = sender?.length === 1 ? (sender[0]?.address ?? "").toLowerCase() : "";
    const messageId = mail.messageId ?? "";
    const { address, servers } = this.#settings;
    const header = (name: string) => headersOf(mail, name)[0];
    if (whyNotAnswered({ from, messageId, header }, address) !== undefined) return undefined;
    const verified = verifiedSender({ from, results: headersOf(mail, "authentication-results"), servers });
    if (verified === undefined || messageId === "") return undefined;
    const references = [mail.references ?? []].flat();
    const replyTo: ReplyTo = { to: verified, subject: mail.subject ?? "", messageId, references };
    const words = ownWords(mail.text ?? "");
    const isFirst = references.length === 0 && mail.subject !== undefined && mail.subject !== "";
    return {
      id: messageId,
      chat: `${verified} ${references[0] ?? messageId}`,
      person: { id: verified, name: sender?.[0]?.name || verified },
      text: isFirst ? `Subject: ${mail.subject}\n\n${words}` : words,
      sentAt: new Date(internalDate ?? Date.now()).getTime(),
      isPrivate: true,
      attachments: mail.attachments.map(({ filename, contentType, size }, index) => ({
        ref: `${uid}/${index}`,
        name: filename ?? `attachment-${index + 1}`,
        mimeType: contentType,
        bytes: size,
      })),
      replyTo: JSON.stringify(replyTo),
    };
  }

  async send(part: OutgoingPart, signal: AbortSignal): Promise<SendOutcome> {
    const { address, smtpUrl } = this.#settings;
    const { file } = part;
    const reply = readReplyTo(part.replyTo);
    if (reply === undefined) return { sent: false, retry: "never", message: "there is no mail it answers" };
    const { createTransport } = await import("nodemailer");
    const { host, port, secure, requireTLS, verifyCertificate, user, password } = readSmtpUrl(smtpUrl);
    const transport = createTransport({
      host,
      port,
      secure,
      requireTLS,
      tls: { rejectUnauthorized: verifyCertificate },
      ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
      connectionTimeout: 30_000,
      greetingTimeout: 30_000,
      socketTimeout: 120_000,
    });
    const cut = () => transport.close();
    signal.addEventListener("abort", cut, { once: true });
    const messageId = mailId({ id: part.id, chat: part.chat, address });
    try {
      await transport.sendMail({
        from: address,
        to: reply.to,
        subject: /^re:/i.test(reply.subject) ? reply.subject : `Re: ${reply.subject}`,
        text: part.text,
        ...(file !== undefined && {
          attachments: [
            { filename: file.name, contentType: file.mimeType, content: await readFile(file.path) },
          ],
        }),
        messageId,
        inReplyTo: reply.messageId,
        references: [...reply.references, reply.messageId],
        headers: { "Auto-Submitted": "auto-replied" },
        xMailer: false,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return { sent: true, ref: messageId };
    } catch (error) {
      return outcomeOf(error);
    } finally {
      signal.removeEventListener("abort", cut);
      transport.close();
    }
  }

  rendered(text: string): string {
    return text;
  }

  async download(ref: string): Promise<Uint8Array> {
    const [uid = "", index = ""] = ref.split("/");
    const client = this.#client;
    if (client === undefined) throw new Error("the mailbox is not connected at the moment");
    const query = { uid: true, source: { maxLength: MAX_MAIL_BYTES } };
    const fetched = await client.fetchOne(uid, query, { uid: true });
    const { simpleParser } = await this.#settings.loadParser();
    const source = fetched ? fetched.source : undefined;
    const found = source && (await simpleParser(source)).attachments[Number(index)];
    if (!found) throw new Error("the mail is no longer there");
    return found.content;
  }

  async #connect(): Promise<ImapFlow> {
    const { ImapFlow } = await this.#settings.loadImap();
    const { host, port, secure, requireTLS, verifyCertificate, user, password } = readImapUrl(
      this.#settings.imapUrl,
    );
    const client = new ImapFlow({
      host,
      port,
      secure,
      ...(!secure && { doSTARTTLS: requireTLS }),
      tls: { rejectUnauthorized: verifyCertificate },
      auth: { user: user ?? this.#settings.address, pass: password ?? "" },
      logger: false,
      // The loop looks by itself as well.
      maxIdleTime: LOOK_EVERY_MS,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
    } catch (error) {
      client.close();
      if (isRecord(error) && error.authenticationFailed === true)
        throw new GatewayRefused("the mail server refused user or password: check gateways.email.imap_url");
      throw new Error(`the mailbox cannot be reached: ${messageOf(error)}`, { cause: error });
    }
    return client;
  }
}

/** Something may have happened; once is as good as ten times. */
class Wake {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#pending) {
      const over = new AbortController();
      this.#resolve = () => over.abort();
      await pause(ms, AbortSignal.any([signal, over.signal]));
      this.#resolve = undefined;
    }
    this.#pending = false;
  }
}

/** As they came, topmost first: the parser keeps only one of several. */
function headersOf({ headerLines }: ParsedMail, name: string): readonly string[] {
  return headerLines
    .filter(({ key }) => key === name)
    .map(({ line }) =>
      line
        .slice(line.indexOf(":") + 1)
        .replace(/\r?\n[ \t]+/g, " ")
        .trim(),
    );
}

function readReplyTo(text: string | undefined): ReplyTo | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return isRecord(value) && typeof value.to === "string" ? (value as unknown as ReplyTo) : undefined;
}

function outcomeOf(error: unknown): SendOutcome {
  const status = isRecord(error) ? Number(error.responseCode ?? 0) : 0;
  const message = messageOf(error);
  // Without a status it is an address that no server would take.
  if (status >= 500 || (status === 0 && errnoOf(error) === "EENVELOPE"))
    return { sent: false, retry: "never", message };
  const unsure = isRecord(error) && error.command === "DATA" && status === 0;
  return { sent: false, retry: "later", unsure, message };
}
