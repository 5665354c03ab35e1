import { delegateEnvironment } from "../../call/delegate-environment.js";
import type { Environment } from "../environment.js";
import { openRemoteEnvironment } from "../remote/remote-environment.js";
import { checkSshOptions, destination, type SshOptions } from "./options.js";
import { fetchWithSftp, pushWithSftp, type SftpHost } from "./transfers.js";
import { SshTransport } from "./transport.js";

export type { SshOptions } from "./options.js";

/**
 * A host reached with the system's `ssh`, which brings the person's configuration, jump hosts, agents and
 * hardware keys along. Connects before it answers; rejects with a ToolError that says why and what to do.
 */
export async function createSshEnvironment(options: SshOptions): Promise<Environment> {
  checkSshOptions(options);
  const transport = new SshTransport(options);
  const remote = await openRemoteEnvironment({
    name: options.name ?? "ssh",
    kind: "ssh",
    transport,
    defaultCwd: options.cwd ?? "~",
    loginShell: options.loginShell ?? true,
    endWithRuntime: true,
    passthrough: options.passthrough,
    close: () => transport.close(),
    facts: async () => ({
      host: destination(options),
      "host keys": options.hostKeyPolicy ?? "accept-new",
      connections: String(transport.connections),
    }),
  });
  const copyWith = options.copyWith ?? "auto";
  const close = () => staying(() => remote.close());
  if (copyWith === "tar") return delegateEnvironment(remote, { close });
  const host: SftpHost = {
    scope: copyWith === "sftp" ? "all" : "large files",
    program: options.program ?? "ssh",
    env: options.env ?? process.env,
    borrow: () => transport.borrow(),
    stat: (path) => remote.files.stat(path),
  };
  return delegateEnvironment(remote, {
    close,
    fetch: async (transfer) => (await fetchWithSftp(host, transfer)) ?? remote.fetch(transfer),
    push: async (transfer) => (await pushWithSftp(host, transfer)) ?? remote.push(transfer),
  });
}

/** Connections that nobody uses do not keep a program alive; closing them must come to its end all the same. */
async function staying(work: () => Promise<void>): Promise<void> {
  const awake = setInterval(() => undefined, 60_000);
  try {
    await work();
  } finally {
    clearInterval(awake);
  }
}
