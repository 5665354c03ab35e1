import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { BSON } from "mongodb";
import type { MongoDocument } from "./mongo-server.js";

const ITERATIONS = 4_096;

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** One connection's log-in by SCRAM-SHA-256 (RFC 7677), in the commands saslStart and saslContinue of MongoDB. */
export class MongoLogin {
  readonly #user: string;
  readonly #salted: Buffer;
  readonly #salt = randomBytes(28);
  #begun = "";
  #nonce = "";
  isDone = false;

  constructor({ user, password }: { readonly user: string; readonly password: string }) {
    this.#user = user;
    this.#salted = pbkdf2Sync(password, this.#salt, ITERATIONS, 32, "sha256");
  }

  /** Undefined for what has nothing to do with logging in, or comes after it. */
  answer(command: MongoDocument): MongoDocument | undefined {
    const [name = ""] = Object.keys(command);
    if (name === "saslStart") return this.#start(textIn(command.payload));
    if (name === "saslContinue") return this.#continue(textIn(command.payload));
    if (this.isDone || /^(?:hello|isMaster|endSessions)$/i.test(name)) return undefined;
    return failed({
      code: 13,
      codeName: "Unauthorized",
      errmsg: `command ${name} requires authentication`,
    });
  }

  #start(first: string): MongoDocument {
    const [, user = "", nonce = ""] = /^n,,n=([^,]*),r=(.+)$/.exec(first) ?? [];
    if (user !== this.#user) return refused();
    this.#nonce = nonce + randomBytes(18).toString("base64");
    const reply = `r=${this.#nonce},s=${this.#salt.toString("base64")},i=${ITERATIONS}`;
    this.#begun = `${first.slice("n,,".length)},${reply}`;
    return step(reply, false);
  }

  #continue(last: string): MongoDocument {
    const [, without = "", nonce = "", proof = ""] = /^(c=biws,r=([^,]+)),p=(.+)$/.exec(last) ?? [];
    const said = `${this.#begun},${without}`;
    const clientKey = hmac(this.#salted, "Client Key");
    const signature = hmac(createHash("sha256").update(clientKey).digest(), said);
    const expected = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
    const given = Buffer.from(proof, "base64");
    if (nonce !== this.#nonce || given.length !== expected.length || !timingSafeEqual(given, expected))
      return refused();
    this.isDone = true;
    return step(`v=${hmac(hmac(this.#salted, "Server Key"), said).toString("base64")}`, true);
  }
}

function step(text: string, done: boolean): MongoDocument {
  return { ok: 1, conversationId: 1, done, payload: new BSON.Binary(Buffer.from(text)) };
}

function refused(): MongoDocument {
  return failed({ code: 18, codeName: "AuthenticationFailed", errmsg: "Authentication failed" });
}

function failed(why: MongoDocument): MongoDocument {
  return { ok: 0, ...why };
}

function textIn(payload: unknown): string {
  return payload instanceof BSON.Binary ? payload.toString("utf8") : "";
}
