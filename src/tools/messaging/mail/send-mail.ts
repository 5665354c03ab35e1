import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isAddress, type MailAddress, type Recipients, readAddresses } from "./recipients.js";
import { type MailServer, readSmtpUrl } from "./smtp-url.js";

const CONNECT_TIMEOUT_MS = 20_000;
const SILENCE_TIMEOUT_MS = 60_000;
const LONGEST_REPLY = 300;

export interface Mail {
  readonly recipients: Recipients;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  readonly replyTo?: MailAddress | undefined;
  readonly attachments?: readonly { readonly filename: string; readonly content: Buffer }[] | undefined;
}

export interface SentMail {
  readonly message_id: string;
  readonly from: string;
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
  /** Why those were rejected, in the server's words. */
  readonly refusals?: readonly { readonly address: string; readonly reason: string }[] | undefined;
  /** What the server said when it took the mail. */
  readonly receipt: string;
}

/** Whether mails can be sent at all. */
export function hasMailServer(settings: CallContext["settings"]): boolean {
  return textIn(settings.email, "smtp_url") !== "";
}

/** The address mails come from. */
export function senderOf(settings: CallContext["settings"]): MailAddress {
  const written = textIn(settings.email, "from") || (readSmtpUrl(smtpUrl(settings)).user ?? "");
  const [sender] = readAddresses(written);
  if (sender !== undefined && isAddress(sender.address)) return sender;
  throw new ToolError(
    written === "" ? "There is no sender for mails." : `${JSON.stringify(written)} is no mail address.`,
    { code: "unavailable", hint: "hermes config set email.from you@example.org" },
  );
}

/** Hands a mail to the operator's server and says whom that took it for. Sent once: nothing here tries again. */
export async function sendMail(mail: Mail, ctx: CallContext): Promise<SentMail> {
  const server = readSmtpUrl(smtpUrl(ctx.settings));
  if (server.password !== undefined) ctx.secrets.add("email.smtp_url password", server.password);
  const from = senderOf(ctx.settings);
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    ...connectionOptions(server),
    getSocket: (_options, done) => {
      openSocket(server, ctx).then(
        (connection) => done(null, { connection }),
        (error: Error) => done(error),
      );
    },
  });
  const { to, cc, all } = mail.recipients;
  try {
    const sent = await transport.sendMail({
      from,
      to: [...to],
      cc: [...cc],
      ...(mail.replyTo !== undefined && { replyTo: mail.replyTo }),
      // Hidden recipients are in here alone.
      envelope: { from: from.address, to: [...all] },
      subject: mail.subject,
      text: mail.text,
      ...(mail.html !== undefined && { html: mail.html }),
      // Nothing but the bytes: a path beside them would be read again by others' rules.
      attachments: (mail.attachments ?? []).map(({ filename, content }) => ({ filename, content })),
      xMailer: false,
      // A text that looks like a path or an address is a text.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const refusals = refusalsIn(sent);
    return {
      message_id: sent.messageId,
      from: from.address,
      accepted: sent.accepted,
      rejected: sent.rejected,
      ...(refusals.length > 0 && { refusals }),
      receipt: sent.response.slice(0, LONGEST_REPLY),
    };
  } catch (error) {
    throw failed(error, server, ctx);
  } finally {
    transport.close();
  }
}

function smtpUrl(settings: CallContext["settings"]): string {
  const written = textIn(settings.email, "smtp_url");
  if (written !== "") return written;
  throw new ToolError("There is no mail server to hand mails to.", {
    code: "unavailable",
    hint: "hermes config set email.smtp_url smtp://HOST:587",
  });
}

function connectionOptions(server: MailServer) {
  const { host, port, secure, requireTLS, verifyCertificate, user, password } = server;
  return {
    host,
    port,
    secure,
    requireTLS,
    tls: { rejectUnauthorized: verifyCertificate },
    ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
  };
}

async function openSocket({ host, port }: MailServer, ctx: CallContext) {
  const socket = await ctx.connect({ host, port, configured: true, timeoutMs: CONNECT_TIMEOUT_MS });
  // Once it is encrypted, nodemailer listens to the encrypted side only; the end of the call ends this one.
  socket.on("error", () => undefined);
  return socket;
}

function failed(error: unknown, server: MailServer, ctx: CallContext): unknown {
  if (ToolError.isInstance(error)) return error;
  const { code, response, command, message } = error as Error & Record<string, unknown>;
  const unsure =
    command === "DATA" ? " It may have been sent all the same: look before sending it again." : "";
  if (ctx.signal.aborted) {
    return new ToolError(`Sending the mail was cancelled.${unsure}`, { code: "cancelled", cause: error });
  }
  const refusals = refusalsIn(error);
  if (refusals.length > 0) {
    const each = refusals.map(({ address, reason }) => `${address} (${reason})`).join(", ");
    return new ToolError(`The mail server took the mail for nobody: ${each}.`, {
      hint: "Check the addresses.",
      from: `smtp:${server.host}`,
      details: { accepted: [], rejected: refusals.map(({ address }) => address), refusals },
      cause: error,
    });
  }
  const said = typeof response === "string" ? response.slice(0, LONGEST_REPLY) : message;
  const hints: Readonly<Record<string, string>> = {
    EAUTH:
      "Check user and password in email.smtp_url; some providers want a password for this program alone.",
    ETLS: "The connection could not be encrypted. Check scheme and port in email.smtp_url: smtps:// for 465, smtp:// for 587.",
    ESOCKET: "Check scheme and port in email.smtp_url, and the certificate of the server.",
  };
  return new ToolError(
    `The mail server ${server.host}:${server.port} did not take the mail: ${said}.${unsure}`,
    {
      hint: hints[String(code)] ?? "Check email.smtp_url, and whether the server is running.",
      details: { code: typeof code === "string" ? code : null },
      from: `smtp:${server.host}`,
      cause: error,
    },
  );
}

/** nodemailer tells of those that the server refused in a list beside the outcome, good or bad. */
function refusalsIn(outcome: unknown): readonly { readonly address: string; readonly reason: string }[] {
  const errors: unknown =
    isRecord(outcome) || outcome instanceof Error ? Reflect.get(outcome, "rejectedErrors") : [];
  return (Array.isArray(errors) ? errors : []).map((one: { recipient?: string; response?: string }) => ({
    address: one.recipient ?? "",
    reason: (one.response ?? "refused").slice(0, LONGEST_REPLY),
  }));
}

function textIn(section: unknown, key: string): string {
  const value = isRecord(section) ? section[key] : undefined;
  return typeof value === "string" ? value.trim() : "";
}
