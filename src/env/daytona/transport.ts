import type { Transport, TransportProcess, TransportStart } from "../remote/transport.js";
import { daytonaError } from "./api.js";
import { PipedProcess } from "./piped-process.js";
import type { SandboxKeeper } from "./sandbox-keeper.js";
import { TerminalProcess } from "./terminal-process.js";

/** The two streams come on ways of their own, each with its own delay. */
const DRAIN_MS = 1_000;

/** Starts programs in the sandbox that the keeper holds. */
export function createDaytonaTransport(keeper: SandboxKeeper): Transport {
  return {
    drainMs: DRAIN_MS,
    async start(request: TransportStart): Promise<TransportProcess> {
      const toolbox = await keeper.toolbox();
      if (request.pty === undefined) {
        return await PipedProcess.start({
          toolbox,
          request,
          async whyLost(error, started) {
            const loss = await keeper.examine(error);
            // This caller is told everything; the next one gets a new sandbox.
            return started ? loss.why : (keeper.takeUntold() ?? loss.why);
          },
        });
      }
      try {
        return await TerminalProcess.start({
          toolbox,
          request: { ...request, pty: request.pty },
          tidy: (work) => keeper.tidy(work),
          whyLost: async (error) => (await keeper.examine(error)).why,
        });
      } catch (error) {
        const loss = await keeper.examine(error);
        throw daytonaError("open a terminal at Daytona", new Error(keeper.takeUntold() ?? loss.why));
      }
    },
  };
}
