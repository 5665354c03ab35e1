import { messageOf } from "../base/errno.js";
import { readOrMakeSecret } from "../store/secret-file.js";
import { failure, HermesError } from "../tool/errors.js";

export interface ServerToken {
  readonly value: string;
  /** Given by the operator, or made by this program and kept in a file. */
  readonly source: "configured" | "file";
  readonly file?: string | undefined;
}

const SENDABLE = /^[\x21-\x7e]+$/;

/** The configured token, or the one in the file, which is made on first use. */
export async function resolveToken(options: {
  readonly configured: string;
  readonly file: string;
}): Promise<ServerToken> {
  const { configured, file } = options;
  if (configured !== "") {
    assertSendable(configured, "HERMES_TOKEN or server.token");
    return { value: configured, source: "configured" };
  }
  try {
    const value = await readOrMakeSecret({ file, accepts: SENDABLE, what: "a token" });
    return { value, source: "file", file };
  } catch (error) {
    if (error instanceof HermesError) throw error;
    throw new HermesError(
      failure(
        "unavailable",
        `The server token cannot be kept in ${file}: ${messageOf(error)}`,
        "Make the Hermes home writable, or set HERMES_TOKEN.",
      ),
    );
  }
}

/** The token of programs that may call tools and read, but approve nothing; undefined when none is configured. */
export function resolveCallToken(options: {
  readonly configured: string;
  readonly token: string;
}): string | undefined {
  const { configured, token } = options;
  if (configured === "") return undefined;
  assertSendable(configured, "HERMES_CALL_TOKEN or server.call_token");
  if (configured !== token) return configured;
  throw new HermesError(
    failure(
      "bad_request",
      "The token for calls is the server's own token, so its holders could approve their own calls",
      "Choose another one for HERMES_CALL_TOKEN or server.call_token.",
    ),
  );
}

function assertSendable(token: string, where: string): void {
  if (SENDABLE.test(token)) return;
  throw new HermesError(
    failure(
      "bad_request",
      "The configured server token cannot be sent in a header",
      `Use letters, digits and signs without spaces in ${where}.`,
    ),
  );
}
