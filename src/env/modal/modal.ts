import { ToolError } from "../../tool/errors.js";
import { type CloudOptions, openCloudEnvironment } from "../cloud/cloud-environment.js";
import { SandboxKeeper } from "../cloud/sandbox-keeper.js";
import type { Environment } from "../environment.js";
import type { Transport, TransportProcess, TransportStart } from "../remote/transport.js";
import { modalError } from "./client.js";
import { inSizedTerminal, ModalProcess, resizeCommand } from "./process.js";
import { type ModalSandbox, ModalSandboxes } from "./sandboxes.js";

export interface ModalOptions extends CloudOptions {
  /** Folder of `modal_snapshots.json`. */
  readonly stateDir: string;
  /** Where sandboxes are listed at Modal; made when it is missing. */
  readonly app?: string | undefined;
  /** The longest life of one sandbox; 3,600 by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Token, address and environment of the service; by default what Modal's own programs use. */
  readonly tokenId?: string | undefined;
  readonly tokenSecret?: string | undefined;
  readonly serverUrl?: string | undefined;
  readonly modalEnvironment?: string | undefined;
}

export async function createModalEnvironment(options: ModalOptions): Promise<Environment> {
  const keeper = new SandboxKeeper(new ModalSandboxes(options));
  const transport = createModalTransport(keeper);
  return openCloudEnvironment({ kind: "modal", options, defaultCwd: "/root", keeper, transport });
}

/** Starts programs in the sandbox that the keeper holds. */
export function createModalTransport(keeper: SandboxKeeper<ModalSandbox>): Transport {
  return {
    async start(request: TransportStart): Promise<TransportProcess> {
      const { sandbox: held, release } = await keeper.use();
      const { sandbox } = held;
      const argv = request.pty === undefined ? [...request.argv] : inSizedTerminal(request.argv, request.pty);
      try {
        const program = await sandbox.exec(argv, {
          mode: "binary",
          ...(request.pty === undefined ? {} : { pty: true, stderr: "ignore" as const }),
        });
        const process = new ModalProcess({
          program,
          request,
          whyLost: async (error) => (await keeper.examine(held, error))?.why,
          resizeTerminal: (terminal, size) => {
            sandbox
              .exec(resizeCommand(terminal, size), { stdout: "ignore", stderr: "ignore" })
              .then((resize) => resize.wait())
              .catch(() => {});
          },
        });
        void process.ended.then(release);
        return process;
      } catch (error) {
        const loss = await keeper.examine(held, error);
        release();
        // The keeper tells what was lost with it, and makes a new one for the next caller.
        if (loss?.gone) return await this.start(request);
        if (loss === undefined) throw modalError("start a program in the Modal sandbox", error);
        throw new ToolError(`Could not start a program: ${loss.why}.`, {
          code: "unavailable",
          hint: "Check the network, then call again.",
          cause: error,
        });
      }
    },
  };
}
