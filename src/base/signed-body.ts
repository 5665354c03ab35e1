import { createHmac, timingSafeEqual } from "node:crypto";

export const SIGNATURE_HEADER = "x-hermes-signature";

/** How far the clocks of both sides may be apart. */
const WINDOW_MS = 5 * 60_000;

/** `t=UNIX,v1=HEX`: HMAC-SHA256 of time and body, so that a copy cannot be sent again later. */
export function signBody(body: string, secret: string, now = Date.now()): string {
  const time = Math.floor(now / 1000);
  return `t=${time},v1=${digest({ time: String(time), body, secret }).toString("hex")}`;
}

export type SignatureVerdict = "good" | "missing" | "wrong" | "too_old";

export function checkSignature(signed: {
  readonly header: string | undefined;
  readonly body: string | Uint8Array;
  readonly secret: string;
  readonly now?: number | undefined;
}): SignatureVerdict {
  const { header, body, secret, now = Date.now() } = signed;
  const [, time, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/i.exec(header?.replaceAll(" ", "") ?? "") ?? [];
  if (time === undefined || given === undefined) return "missing";
  if (!timingSafeEqual(digest({ time, body, secret }), Buffer.from(given, "hex"))) return "wrong";
  return Math.abs(now - Number(time) * 1000) > WINDOW_MS ? "too_old" : "good";
}

function digest(signed: {
  readonly time: string;
  readonly body: string | Uint8Array;
  readonly secret: string;
}): Buffer {
  return createHmac("sha256", signed.secret).update(`${signed.time}.`).update(signed.body).digest();
}
