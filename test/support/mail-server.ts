import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestEnd } from "./runtime.js";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came over the wire. */
  readonly raw: string;
  /** The name that was logged in with. */
  readonly user: string | undefined;
  readonly encrypted: boolean;
}

export interface MailServer {
  /** `smtp://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedMail[];
}

/** A mail server for one test. Addresses that begin with "nobody" are refused. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    // Without a certificate of its own it would offer one that everybody has the key of.
    ...(options.key === undefined && { disabledCommands: ["STARTTLS"] }),
    onRcptTo: ({ address }, _session, done) => {
      if (!address.startsWith("nobody")) return done();
      done(Object.assign(new Error("there is no such mailbox"), { responseCode: 550 }));
    },
    onData: async (stream, session, done) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of stream) parts.push(part as Buffer);
      } catch (error) {
        return done(error as Error);
      }
      const { mailFrom, rcptTo } = session.envelope;
      received.push({
        from: mailFrom === false ? "" : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        raw: Buffer.concat(parts).toString("utf8"),
        user: typeof session.user === "string" ? session.user : undefined,
        encrypted: session.secure,
      });
      done(null, "queued as 4711");
    },
    ...options,
  });
  // A client that goes away in the middle is what some tests are about.
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestEnd(() => new Promise((resolve) => void server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, port, received };
}
