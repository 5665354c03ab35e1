import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errnoOf } from "../base/errno.js";
import { failure, HermesError } from "../tool/errors.js";

const SECRET_BYTES = 32;

export interface SecretFile {
  readonly file: string;
  /** What the whole text must look like. */
  readonly accepts: RegExp;
  /** "a token", for the message when the file holds something else. */
  readonly what: string;
}

/** The text of a file that only its owner can read; 32 random bytes in base64url, made on first use. */
export async function readOrMakeSecret(wanted: SecretFile): Promise<string> {
  return (await readSecret(wanted)) ?? (await makeSecret(wanted));
}

async function readSecret({ file, accepts, what }: SecretFile): Promise<string | undefined> {
  // A file system without links lets another process's new file be seen while it is still empty.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    let text: string;
    try {
      text = (await readFile(file, "utf8")).trim();
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
    if (accepts.test(text)) {
      await closeToOthers(file);
      return text;
    }
    if (text !== "") break;
    await pause(50);
  }
  throw new HermesError(
    failure("unavailable", `${file} does not hold ${what}`, "Delete it and start again; a new one is made."),
  );
}

/** Whole and on disk before it has its name; of two processes that start at once, both use the first one's. */
async function makeSecret(wanted: SecretFile): Promise<string> {
  const { file } = wanted;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const value = randomBytes(SECRET_BYTES).toString("base64url");
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${value}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch(async (error: unknown) => {
      if (errnoOf(error) === "EEXIST") throw error;
      await writeFile(file, `${value}\n`, { flag: "wx", mode: 0o600 });
    });
    return value;
  } catch (error) {
    const theirs = errnoOf(error) === "EEXIST" ? await readSecret(wanted) : undefined;
    if (theirs === undefined) throw error;
    return theirs;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

async function closeToOthers(file: string): Promise<void> {
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
}
