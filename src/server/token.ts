import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { failure, HermesError } from "../tool/errors.js";

export interface ServerToken {
  readonly value: string;
  /** Given by the operator, or made by this program and kept in a file. */
  readonly source: "configured" | "file";
  readonly file?: string;
}

const TOKEN_BYTES = 32;
const SENDABLE = /^[\x21-\x7e]+$/;

/** The configured token, or the one in the file, which is made on first use. */
export async function resolveToken(options: {
  readonly configured: string;
  readonly file: string;
}): Promise<ServerToken> {
  const { configured, file } = options;
  if (configured !== "") {
    if (SENDABLE.test(configured)) return { value: configured, source: "configured" };
    throw new HermesError(
      failure(
        "bad_request",
        "The configured server token cannot be sent in a header",
        "Use letters, digits and signs without spaces in HERMES_TOKEN or server.token.",
      ),
    );
  }
  try {
    const value = (await readToken(file)) ?? (await createToken(file));
    return { value, source: "file", file };
  } catch (error) {
    if (error instanceof HermesError) throw error;
    throw new HermesError(
      failure(
        "unavailable",
        `The server token cannot be kept in ${file}: ${error instanceof Error ? error.message : String(error)}`,
        "Make the Hermes home writable, or set HERMES_TOKEN.",
      ),
    );
  }
}

async function readToken(file: string): Promise<string | undefined> {
  // A file system without links lets another process's new file be seen while it is still empty.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    let text: string;
    try {
      text = (await readFile(file, "utf8")).trim();
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
    if (SENDABLE.test(text)) {
      await closeToOthers(file);
      return text;
    }
    if (text !== "") break;
    await pause(50);
  }
  throw new HermesError(
    failure("unavailable", `${file} does not hold a token`, "Delete it and start again; a new one is made."),
  );
}

/** Whole and on disk before it has its name; of two servers that start at once, both use the first one's. */
async function createToken(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const value = randomBytes(TOKEN_BYTES).toString("base64url");
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
      if (codeOf(error) === "EEXIST") throw error;
      await writeFile(file, `${value}\n`, { flag: "wx", mode: 0o600 });
    });
    return value;
  } catch (error) {
    const theirs = codeOf(error) === "EEXIST" ? await readToken(file) : undefined;
    if (theirs === undefined) throw error;
    return theirs;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

async function closeToOthers(file: string): Promise<void> {
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
