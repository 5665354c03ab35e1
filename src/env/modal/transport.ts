import { ToolError } from "../../tool/errors.js";
import type { Transport, TransportProcess, TransportStart } from "../remote/transport.js";
import { modalError } from "./errors.js";
import { ModalProcess } from "./process.js";
import type { SandboxKeeper } from "./sandbox-keeper.js";
import { inSizedTerminal, resizeCommand } from "./terminal-start.js";

/** The two streams come on ways of their own, each with its own delay. */
const DRAIN_MS = 1_200;

/** Starts programs in the sandbox that the keeper holds. */
export function createModalTransport(keeper: SandboxKeeper): Transport {
  return {
    drainMs: DRAIN_MS,
    async start(request: TransportStart): Promise<TransportProcess> {
      const { sandbox, release } = await keeper.use();
      const argv = request.pty === undefined ? [...request.argv] : inSizedTerminal(request.argv, request.pty);
      try {
        const program = await sandbox.exec(argv, {
          mode: "binary",
          ...(request.pty === undefined ? {} : { pty: true, stderr: "ignore" as const }),
        });
        const process = new ModalProcess({
          program,
          request,
          whyLost: async (error) => (await keeper.examine(sandbox, error))?.why,
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
        const loss = await keeper.examine(sandbox, error);
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
