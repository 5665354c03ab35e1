import type { ModalClient } from "modal";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { ModalOptions } from "./options.js";

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
