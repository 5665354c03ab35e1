import { failure, HermesError } from "../tool/errors.js";

/**
 * A package that the program brings along. Named at run time: neither the bundle nor the types of this package need it.
 */
export async function loadPeer(module: string): Promise<object> {
  const packageName = module.split("/").slice(0, 2).join("/");
  try {
    return (await import(module)) as object;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HermesError(
      failure("unavailable", `${module} could not be loaded: ${reason}`, `npm install ${packageName}`),
    );
  }
}
