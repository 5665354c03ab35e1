import { join } from "node:path";
import { inTime } from "../../base/deadline.js";
import { messageOf } from "../../base/errno.js";
import { HELD_LOOP_MS } from "../../base/held-loop.js";
import type { LoadedConfig } from "../../config/types.js";
import type { Logger } from "../../observe/log.js";
import { describeImportError } from "../../registry/user-module-errors.js";
import { type ModuleNamespace, userModuleLoader } from "../../registry/user-module-loader.js";
import { Collected } from "./collected.js";
import type { PluginManifest } from "./manifest.js";
import type { RegisterPlugin } from "./types.js";

export interface LoadRequest {
  readonly manifest: PluginManifest;
  /** Module with `register`. */
  readonly main: string;
  /** Names what was read, so that changed files are imported anew. */
  readonly fingerprint: string;
  /** Real path → hash: only this may run. Left out when changes of the folder are trusted. */
  readonly confirmed?: ReadonlyMap<string, string>;
  readonly config: LoadedConfig;
  readonly log: Logger;
  /** Told when the code held the event loop, in milliseconds. */
  onBlocked(what: string, heldMs: number): void;
}

const CLOSING_MS = 5_000;

/** Runs `register` and answers with everything it wants to bring; throws with a message for its author. */
export async function loadPlugin(request: LoadRequest): Promise<Collected> {
  const { manifest, main, config, confirmed } = request;
  const collected = new Collected(manifest);
  const cacheDir = join(config.paths.cache, "plugins");
  // Only what the plugin does itself counts against its time.
  const loader = await userModuleLoader({ publicApi, cacheDir });
  try {
    const registering = async () => {
      const module = await loader.importFresh(main, request.fingerprint, {
        pins: confirmed,
        onHeld: (heldMs) => reportIfLong(heldMs, (long) => request.onBlocked("its top level", long)),
      });
      const register = registerOf(module);
      await namingBlocks(
        () => register(collected.contextFor(request)),
        (heldMs) => request.onBlocked("register", heldMs),
      );
    };
    await inTime(registering(), { ms: manifest.timeoutSeconds * 1000, otherwise: "it did not finish" });
    if (collected.refusal !== undefined) throw collected.refusal;
    collected.assertGuards();
    return collected;
  } catch (error) {
    collected.end();
    await closeAll(collected, request.log);
    const { message, line } = describeImportError(error, { file: main, cacheDir });
    throw new Error(line === undefined ? message : `${main}:${line}: ${message}`, { cause: error });
  } finally {
    collected.end();
  }
}

/** Calls what was given to `onClose`, the last one first. None of them can keep the others from it. */
export async function closeAll(collected: Pick<Collected, "closers">, log: Logger): Promise<void> {
  for (const close of collected.closers.splice(0).reverse()) {
    try {
      await inTime((async () => close())(), { ms: CLOSING_MS, otherwise: "it did not finish" });
    } catch (error) {
      log.error(`onClose failed: ${messageOf(error)}`);
    }
  }
}

/** Up to its first `await`: what it does behind that cannot be told from what others do. */
export function namingBlocks<Result>(work: () => Result, report: (heldMs: number) => void): Result {
  const before = performance.now();
  try {
    return work();
  } finally {
    reportIfLong(performance.now() - before, report);
  }
}

function reportIfLong(heldMs: number, report: (heldMs: number) => void): void {
  if (heldMs >= HELD_LOOP_MS) report(Math.round(heldMs));
}

function registerOf(module: ModuleNamespace): RegisterPlugin {
  const { default: exported } = module;
  const inside =
    typeof exported === "object" && exported !== null ? Reflect.get(exported, "register") : undefined;
  for (const candidate of [exported, module.register, inside]) {
    if (typeof candidate === "function") return candidate as RegisterPlugin;
  }
  throw new TypeError(
    "the module exports no register function; write: export default function register(ctx) {}",
  );
}

/** What `import … from "hermes-tools"` gives a plugin: everything but the way past `ctx`. */
async function publicApi(): Promise<ModuleNamespace> {
  const api: ModuleNamespace = await import("../../index.js");
  const refuse = () => {
    throw new Error("a plugin brings its tools with ctx.tool inside register(ctx)");
  };
  const registry = { register: refuse, add: refuse, deregister: refuse, aliasToolset: refuse };
  return { ...api, registry };
}
