import { GatewayRefused } from "../supervisor.js";

export interface ImapAddress {
  readonly host: string;
  readonly port: number;
  /** Encrypted from the first byte. */
  readonly secure: boolean;
  /** Otherwise: encrypted before the password is sent. */
  readonly requireTLS: boolean;
  readonly verifyCertificate: boolean;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** `imaps://user:password@host` or `imap://…`; a password is sent unencrypted only to this machine. */
export function readImapUrl(written: string): ImapAddress {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^imaps?:$/.test(url.protocol) || url.hostname === "")
    throw new GatewayRefused(
      "gateways.email.imap_url is no address of a mailbox: write imaps://USER:PASSWORD@HOST",
    );
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isHere = /^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  const secure = url.protocol === "imaps:";
  const user = decodeURIComponent(url.username);
  return {
    host,
    port: url.port === "" ? (secure ? 993 : 143) : Number(url.port),
    secure,
    requireTLS: !secure && !isHere,
    verifyCertificate: !isHere,
    ...(user !== "" && { user, password: decodeURIComponent(url.password) }),
  };
}
