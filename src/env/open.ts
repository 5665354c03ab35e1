import { join } from "node:path";
import type { LoadedConfig } from "../config/types.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Environment } from "./environment.js";

export interface OpenRequest {
  readonly name: string;
  /** Containers and cloud sandboxes are kept apart by it. */
  readonly task: string;
  readonly config: LoadedConfig;
  /** Long steps, such as pulling an image. */
  onProgress?(message: string): void;
}

type Opener = (request: OpenRequest) => Promise<Environment>;

/** Each backend is imported when somebody wants it. */
const OPENERS: Readonly<Record<string, Opener>> = { local: openLocal };

export async function openEnvironment(request: OpenRequest): Promise<Environment> {
  const open = Object.hasOwn(OPENERS, request.name) ? OPENERS[request.name] : undefined;
  if (open === undefined) {
    throw new HermesError(
      failure(
        "unavailable",
        `There is no environment called ${JSON.stringify(request.name)}`,
        `Environments: ${Object.keys(OPENERS).join(", ")}.`,
      ),
    );
  }
  return open(request);
}

async function openLocal({ config }: OpenRequest): Promise<Environment> {
  const { env, values, paths } = config;
  const { createLocalEnvironment } = await import("./local/local.js");
  return createLocalEnvironment({
    env,
    passthrough: values.terminal.env_passthrough,
    sandbox: {
      mode: values.terminal.sandbox,
      network: values.terminal.sandbox_network,
      writable: values.terminal.sandbox_writable,
      hidden: [paths.home],
      visible: [join(paths.cache, "spillover")],
    },
  });
}
