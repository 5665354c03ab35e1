import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { onTestEnd } from "../runtime.js";

interface StoredMail {
  readonly uid: number;
  readonly source: Buffer;
  readonly at: Date;
  seen: boolean;
}

/** A mailbox that speaks as much IMAP4rev1 as a client needs that reads new mail: one user, one folder. */
export class ImapServer {
  readonly mails: StoredMail[] = [];
  readonly commands: string[] = [];
  readonly #sockets = new Map<Socket, { idleTag: string | undefined; selected: boolean }>();
  #nextUid = 1;
  url = "";

  async listen(): Promise<this> {
    const server = createServer((socket) => this.#serve(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    this.url = `imap://hermes%40example.org:secret@127.0.0.1:${port}`;
    onTestEnd(async () => {
      for (const socket of this.#sockets.keys()) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return this;
  }

  deliver(source: string, at = new Date()): void {
    this.mails.push({
      uid: this.#nextUid++,
      source: Buffer.from(source.replace(/\r?\n/g, "\r\n")),
      at,
      seen: false,
    });
    for (const [socket, { selected }] of this.#sockets)
      if (selected) socket.write(`* ${this.mails.length} EXISTS\r\n`);
  }

  /** All connections break. */
  hangUp(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  #serve(socket: Socket): void {
    const state = { idleTag: undefined as string | undefined, selected: false };
    this.#sockets.set(socket, state);
    socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    socket.write("* OK [CAPABILITY IMAP4rev1 IDLE] ready\r\n");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf("\r\n"); end !== -1; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (state.idleTag !== undefined && line.toUpperCase() === "DONE") {
          socket.write(`${state.idleTag} OK IDLE done\r\n`);
          state.idleTag = undefined;
        } else this.#command(line, { socket, state });
      }
    });
  }

  #command(
    line: string,
    { socket, state }: { socket: Socket; state: { idleTag: string | undefined; selected: boolean } },
  ): void {
    this.commands.push(line);
    const [, tag = "*", rest = ""] = /^(\S+) (.*)$/s.exec(line) ?? [];
    const [, name = "", args = ""] = /^((?:UID )?\S+) ?(.*)$/is.exec(rest) ?? [];
    const say = (...lines: string[]) => socket.write(lines.map((each) => `${each}\r\n`).join(""));
    switch (name.toUpperCase()) {
      case "CAPABILITY":
        return void say("* CAPABILITY IMAP4rev1 IDLE", `${tag} OK done`);
      case "LOGIN":
        return void say(
          args.includes("secret") ? `${tag} OK done` : `${tag} NO [AUTHENTICATIONFAILED] wrong password`,
        );
      case "LIST":
      case "LSUB":
        return void say(
          /""\s*$/.test(args) ? `* ${name} (\\Noselect) "/" ""` : `* ${name} (\\HasNoChildren) "/" INBOX`,
          `${tag} OK done`,
        );
      case "SELECT":
        state.selected = true;
        return void say(
          "* FLAGS (\\Seen \\Answered)",
          `* ${this.mails.length} EXISTS`,
          "* OK [UIDVALIDITY 1] ok",
          `* OK [UIDNEXT ${this.#nextUid}] ok`,
          `${tag} OK [READ-WRITE] done`,
        );
      case "IDLE":
        state.idleTag = tag;
        return void say("+ idling");
      case "UID SEARCH":
        return void say(
          `* SEARCH ${this.mails.flatMap(({ uid, seen }) => (seen ? [] : [uid])).join(" ")}`.trimEnd(),
          `${tag} OK done`,
        );
      case "UID FETCH":
        this.#fetch(args, socket);
        return void say(`${tag} OK done`);
      case "UID STORE":
        for (const mail of this.mails) if (String(mail.uid) === args.split(" ")[0]) mail.seen = true;
        return void say(`${tag} OK done`);
      case "LOGOUT":
        say("* BYE bye", `${tag} OK done`);
        return void socket.end();
      default:
        return void say(`${tag} OK done`);
    }
  }

  #fetch(args: string, socket: Socket): void {
    const wanted = args.split(" ")[0];
    for (const [index, { uid, source, at, seen }] of this.mails.entries()) {
      if (String(uid) !== wanted) continue;
      const flags = seen ? "\\Seen" : "";
      const date = `${at.toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) (\S+) GMT$/, "$1-$2-$3 $4")} +0000`;
      const label = /BODY(?:\.PEEK)?\[\](<0\.\d+>)?/i.exec(args)?.[1] === undefined ? "BODY[]" : "BODY[]<0>";
      socket.write(
        `* ${index + 1} FETCH (UID ${uid} FLAGS (${flags}) INTERNALDATE "${date.padStart(26)}" ${label} {${source.length}}\r\n`,
      );
      socket.write(source);
      socket.write(")\r\n");
    }
  }
}
