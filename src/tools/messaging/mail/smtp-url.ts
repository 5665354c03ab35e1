import { ToolError } from "../../../tool/errors.js";

/** Where mails are handed in, as the operator wrote it. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`). */
  readonly secure: boolean;
  /** Nothing is sent unless the connection is encrypted. */
  readonly requireTLS: boolean;
  readonly verifyCertificate: boolean;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * `smtp://user:password@host:587` or `smtps://…`, with `?requireTLS=` and `?tls.rejectUnauthorized=` as nodemailer reads
 * them. Unless said otherwise a password never travels unencrypted, and certificates are checked; on this machine there
 * is no line between the two that anybody could listen on, and certificates are usually made at home.
 */
export function readSmtpUrl(written: string): MailServer {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === "") {
    throw new ToolError("email.smtp_url is not the address of a mail server.", {
      code: "unavailable",
      hint: "hermes config set email.smtp_url smtp://HOST:587",
    });
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isHere = /^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  const secure = url.protocol === "smtps:";
  const user = decoded(url.username);
  const choice = (name: string, fallback: boolean) =>
    url.searchParams.has(name) ? url.searchParams.get(name) === "true" : fallback;
  return {
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: choice("requireTLS", !secure && !isHere && user !== ""),
    verifyCertificate: choice("tls.rejectUnauthorized", !isHere),
    ...(user !== "" && { user, password: decoded(url.password) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
