import { delegateEnvironment } from "../../call/delegate-environment.js";
import type { Environment } from "../environment.js";
import { openRemoteEnvironment } from "../remote/remote-environment.js";
import { execTransport } from "./exec-transport.js";
import { Instance } from "./instance.js";
import type { SingularityOptions } from "./options.js";
import { ContainerProgram } from "./program.js";

/** A container of Apptainer or Singularity: one instance, which every command of the task joins. */
export async function createSingularityEnvironment(options: SingularityOptions): Promise<Environment> {
  const program = new ContainerProgram(options);
  const instance = new Instance(program, options);
  const environment = await openRemoteEnvironment({
    name: options.name ?? "singularity",
    kind: "singularity",
    transport: execTransport({ program, instance, options }),
    defaultCwd: options.cwd ?? "~",
    loginShell: false,
    endWithRuntime: true,
    closeEndsAll: true,
    passthrough: options.passthrough,
    async close() {
      await instance.close();
      await options.starter.close();
    },
    facts: async () => ({
      program: program.path,
      image: options.image,
      instance: instance.name,
      network: options.network === false ? "off" : "as on this machine",
      files: options.persistent === true ? "kept" : "in memory, gone when the container ends",
      ...(instance.notes.length > 0 && { note: instance.notes.join("; ") }),
    }),
  });
  // In memory, everything would be lost.
  return options.persistent === true
    ? delegateEnvironment(environment, { suspend: () => instance.stop() })
    : environment;
}
