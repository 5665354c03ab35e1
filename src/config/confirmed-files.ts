import { createHmac, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../base/atomic-write.js";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import { isRecord } from "../base/record.js";

/** Stands for a file that is not there. */
export const GONE = "gone";
const MOST_FILES = 500;

/** Which contents of settings and tools a person has said yes to; programs that run watch this file. */
export function confirmedFile(home: string): string {
  return join(home, ".changes-confirmed");
}

export function contentHash(data: string | Buffer): string {
  return sha256(data, "base64url");
}

/** By path, the content that a person has confirmed last. What is not signed with the key of this home is nobody's word. */
export async function readConfirmed(home: string): Promise<ReadonlyMap<string, string>> {
  const read = await readSigned(home);
  return read instanceof Map ? read : new Map();
}

/** Whether the file is there, and is not what this home has written. */
export async function isConfirmedDamaged(home: string): Promise<boolean> {
  return (await readSigned(home)) === "damaged";
}

async function readSigned(home: string): Promise<ReadonlyMap<string, string> | "none" | "damaged"> {
  const [key, text] = await Promise.all([
    keyOf(home),
    readFile(confirmedFile(home), "utf8").catch(() => undefined),
  ]);
  if (text === undefined || key === undefined) return "none";
  try {
    const read: unknown = JSON.parse(text);
    if (!isRecord(read) || !isRecord(read.files) || typeof read.signature !== "string") return "damaged";
    const [given, expected] = [Buffer.from(read.signature), Buffer.from(sign(key, read.files))];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "damaged";
    return new Map(
      Object.entries(read.files).flatMap(([path, hash]) => (typeof hash === "string" ? [[path, hash]] : [])),
    );
  } catch {
    return "damaged";
  }
}

/** Writes down a person's yes. False where there is no key yet: then nobody waits for it either. */
export async function confirmFiles(home: string, files: ReadonlyMap<string, string>): Promise<boolean> {
  const key = await keyOf(home);
  if (key === undefined) return false;
  const all = new Map(await readConfirmed(home));
  for (const [path, hash] of files) {
    all.delete(path);
    all.set(path, hash);
  }
  const kept = Object.fromEntries([...all].slice(-MOST_FILES));
  const data = `${JSON.stringify({ files: kept, signature: sign(key, kept) })}\n`;
  await replaceFile({ path: confirmedFile(home), data, mode: 0o600 });
  return true;
}

/** A file that a person's own command, or their answer, has just written. What a tool call started is not theirs. */
export async function confirmWritten(home: string, path: string, data: string): Promise<void> {
  if (process.env.AI_AGENT === "hermes") return;
  await confirmFiles(home, new Map([[path, contentHash(data)]]));
}

async function keyOf(home: string): Promise<Buffer | undefined> {
  try {
    const text = (await readFile(join(home, "approvals.key"), "utf8")).trim();
    return text === "" ? undefined : Buffer.from(text, "base64url");
  } catch {
    return undefined;
  }
}

function sign(key: Buffer, files: Readonly<Record<string, unknown>>): string {
  return createHmac("sha256", key)
    .update(canonicalJson(["confirmed files", files]))
    .digest("base64url");
}
