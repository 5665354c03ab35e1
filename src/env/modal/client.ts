import type { ModalClient } from "modal";
import { errnoOf, messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { ModalOptions } from "./modal.js";

type ClientOptions = Pick<ModalOptions, "tokenId" | "tokenSecret" | "serverUrl" | "modalEnvironment">;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The client has no way to close its connection, so all environments of one account share one; it does not keep
 * the process alive.
 */
const clients = new Map<string, ModalClient>();

export async function modalClient(options: ClientOptions): Promise<ModalClient> {
  const { ModalClient } = await loadModal();
  const { tokenId, tokenSecret, serverUrl, modalEnvironment } = options;
  const key = JSON.stringify([
    tokenId ?? process.env.MODAL_TOKEN_ID,
    tokenSecret ?? process.env.MODAL_TOKEN_SECRET,
    serverUrl ?? process.env.MODAL_SERVER_URL,
    modalEnvironment ?? process.env.MODAL_ENVIRONMENT,
    process.env.MODAL_PROFILE,
  ]);
  const known = clients.get(key);
  if (known !== undefined) return known;
  const client = withServerUrl(
    serverUrl,
    () =>
      new ModalClient({
        ...(tokenId === undefined ? {} : { tokenId }),
        ...(tokenSecret === undefined ? {} : { tokenSecret }),
        ...(modalEnvironment === undefined ? {} : { environment: modalEnvironment }),
        logger: SILENT,
      }),
  );
  if (!client.profile.tokenId || !client.profile.tokenSecret) {
    throw new ToolError("There is no token for Modal.", {
      code: "unavailable",
      hint: "Set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or write them to ~/.modal.toml with `modal token set`.",
    });
  }
  clients.set(key, client);
  return client;
}

/** The client takes its address from the environment only, and reads it while it is being made. */
function withServerUrl(serverUrl: string | undefined, make: () => ModalClient): ModalClient {
  if (serverUrl === undefined) return make();
  const before = process.env.MODAL_SERVER_URL;
  process.env.MODAL_SERVER_URL = serverUrl;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env.MODAL_SERVER_URL;
    else process.env.MODAL_SERVER_URL = before;
  }
}

async function loadModal(): Promise<typeof import("modal")> {
  try {
    return await import("modal");
  } catch (error) {
    if (errnoOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ToolError("Modal's client is not installed.", {
      code: "unavailable",
      hint: "Run `npm install modal`, then try again.",
      cause: error,
    });
  }
}

const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** What went wrong while `doing`, as an error that says what to do about it. */
export function modalError(doing: string, error: unknown): ToolError {
  if (ToolError.isInstance(error)) return error;
  return new ToolError(`Could not ${doing}: ${modalReason(error)}.`, {
    code: "unavailable",
    hint: hintFor(error),
    cause: error,
  });
}

export function modalReason(error: unknown): string {
  const details = (error as { details?: unknown } | undefined)?.details;
  const text = typeof details === "string" && details !== "" ? details : messageOf(error);
  return text.trim().replace(/\.$/, "");
}

function hintFor(error: unknown): string {
  switch (grpcCode(error)) {
    case UNAUTHENTICATED:
    case PERMISSION_DENIED:
      return "Check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or make a new token with `modal token new`.";
    case RESOURCE_EXHAUSTED:
      return "The account's limits are reached; stop other sandboxes or raise the limits at Modal.";
    case UNAVAILABLE:
      return "Check the network and the service's status page, then try again.";
    case NOT_FOUND:
      return "Check the names of the image, the app and the Modal environment in the configuration.";
    default:
      return "Try again; if it stays like this, look at the app's sandboxes at modal.com.";
  }
}

function grpcCode(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}
