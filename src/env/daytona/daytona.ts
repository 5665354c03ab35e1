import { type CloudOptions, openCloudEnvironment } from "../cloud/cloud-environment.js";
import { SandboxKeeper } from "../cloud/sandbox-keeper.js";
import type { Environment } from "../environment.js";
import type { Transport, TransportProcess, TransportStart } from "../remote/transport.js";
import { daytonaError } from "./api.js";
import { PipedProcess } from "./piped-process.js";
import { type DaytonaSandbox, DaytonaSandboxes } from "./sandboxes.js";
import { TerminalProcess } from "./terminal-process.js";

export interface DaytonaOptions extends CloudOptions {
  /** Name of a snapshot at Daytona to start from, instead of an image. */
  readonly snapshot?: string | undefined;
  /** At most 10,240. */
  readonly diskMb?: number | undefined;
  /** By default DAYTONA_API_KEY, DAYTONA_API_URL and DAYTONA_TARGET. */
  readonly apiKey?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly target?: string | undefined;
}

export async function createDaytonaEnvironment(options: DaytonaOptions): Promise<Environment> {
  const keeper = new SandboxKeeper(new DaytonaSandboxes(options));
  const transport = createDaytonaTransport(keeper);
  return openCloudEnvironment({ kind: "daytona", options, defaultCwd: "~", keeper, transport });
}

/** Starts programs in the sandbox that the keeper holds. */
export function createDaytonaTransport(keeper: SandboxKeeper<DaytonaSandbox>): Transport {
  return {
    async start(request: TransportStart): Promise<TransportProcess> {
      const { sandbox, release } = await keeper.use();
      const { toolbox } = sandbox;
      const whyLost = async (error: unknown, tell = false) => {
        const loss = await keeper.examine(sandbox, error);
        // Who is told everything does not have to be told again; the next one gets a new sandbox.
        return (tell ? keeper.takeUntold() : undefined) ?? loss?.why ?? "the Daytona sandbox does not answer";
      };
      try {
        const { pty } = request;
        const process =
          pty === undefined
            ? await PipedProcess.start({
                toolbox,
                request,
                whyLost: (error, started) => whyLost(error, !started),
              })
            : await TerminalProcess.start({ toolbox, request: { ...request, pty }, whyLost });
        void process.ended.then(release);
        return process;
      } catch (error) {
        release();
        if (request.pty === undefined) throw error;
        throw daytonaError("open a terminal at Daytona", new Error(await whyLost(error, true)));
      }
    },
  };
}
