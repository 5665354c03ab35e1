import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant,
} from "quickjs-emscripten-core";
import type { ThreadData } from "./protocol.js";
import { type Raw, ValueBridge } from "./value-bridge.js";

/** Node has it, but its types come with a library for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => { readonly brand: "module" };
  readonly Memory: {
    new (pages: { initial: number; maximum: number }): WasmMemory;
    readonly prototype: WasmMemory;
  };
  readonly Instance: new (module: WasmModule, imports: unknown) => WasmInstance;
};
type WasmModule = InstanceType<typeof WebAssembly.Module>;
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WasmInstance {
  readonly exports: unknown;
}

type Core = typeof import("quickjs-emscripten-core");

type ModuleLoader = (settings: object) => Promise<Raw>;

const PAGE = 65_536;
/** The engine does not start with less memory than this, and cannot use more than that. */
const SMALLEST_PAGES = 256;
const LARGEST_PAGES = 32_768;
const STACK_BYTES = 1024 * 1024;

/** One engine with nothing in it but the prelude. It serves a single script and is then thrown away whole. */
export interface Sandbox {
  readonly memoryBytes: number;
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly crossing: ValueBridge;
  /** Functions of the prelude. */
  readonly answer: QuickJSHandle;
  readonly fire: QuickJSHandle;
  readonly finish: QuickJSHandle;
  /** The script has asked for more memory than there is, at least once. */
  readonly isFull: () => boolean;
}

type Places = Pick<ThreadData, "corePath" | "variantPath" | "wasmPath" | "prelude">;

export class SandboxMaker {
  readonly #core: Core;
  readonly #variant: QuickJSSyncVariant;
  readonly #load: ModuleLoader;
  readonly #wasm: WasmModule;
  readonly #preludeText: string;
  /** What an engine needs for itself, learnt from the first one. */
  #ownBytes = 0;

  private constructor(parts: {
    readonly core: Core;
    readonly variant: QuickJSSyncVariant;
    readonly load: ModuleLoader;
    readonly places: Places;
  }) {
    this.#core = parts.core;
    this.#variant = parts.variant;
    this.#load = parts.load;
    this.#wasm = new WebAssembly.Module(readFileSync(parts.places.wasmPath));
    this.#preludeText = parts.places.prelude;
  }

  static async open(places: Places): Promise<SandboxMaker> {
    const require = createRequire(places.corePath);
    const core = require(places.corePath) as Core;
    const variant = unwrapDefault<QuickJSSyncVariant>(require(places.variantPath));
    const load = unwrapDefault<ModuleLoader>(await variant.importModuleLoader());
    const maker = new SandboxMaker({ core, variant, load, places });
    await maker.make(PAGE * SMALLEST_PAGES);
    return maker;
  }

  /**
   * The engine's own memory limit does not count everything, and an engine that ran out of memory may be damaged.
   * So every script gets an engine of its own, and the limit is how far its memory can grow.
   */
  async make(memoryBytes: number): Promise<Sandbox> {
    const wanted = Math.ceil((this.#ownBytes + memoryBytes) / PAGE);
    const pages = Math.min(Math.max(wanted, SMALLEST_PAGES), LARGEST_PAGES);
    const memory = new WebAssembly.Memory({ initial: SMALLEST_PAGES, maximum: pages });
    let full = false;
    memory.grow = (more) => {
      // A script that needs memory needs it now; asking for more than there is fails, and the engine asks for less.
      full = memory.buffer.byteLength / PAGE + more > pages;
      return WebAssembly.Memory.prototype.grow.call(memory, more);
    };
    const { engine, raw } = await this.#engine(memory);
    const runtime = engine.newRuntime();
    runtime.setMaxStackSize(STACK_BYTES);
    const context = runtime.newContext();
    const crossing = new ValueBridge({
      raw,
      memory,
      context: addressOf(context, "ctx"),
      runtime: addressOf(runtime, "rt"),
    });
    const sandbox = {
      runtime,
      context,
      crossing,
      memoryBytes,
      isFull: () => full,
      ...this.#prelude(context),
    };
    if (this.#ownBytes === 0) {
      const top = raw._malloc(PAGE * 16);
      raw._free(top);
      this.#ownBytes = top;
    }
    // A limit below what every engine starts with: the rest of it is taken away.
    const surplus = SMALLEST_PAGES * PAGE - this.#ownBytes - memoryBytes;
    if (surplus > PAGE) raw._malloc(surplus);
    return sandbox;
  }

  async #engine(memory: WasmMemory) {
    let raw: Raw | undefined;
    const silent = () => undefined;
    const loader = async () => {
      raw = await this.#load({
        wasmMemory: memory,
        print: silent,
        printErr: silent,
        instantiateWasm: (imports: unknown, use: (made: WasmInstance) => void) => {
          const instance = new WebAssembly.Instance(this.#wasm, imports);
          use(instance);
          return instance.exports;
        },
      });
      return raw;
    };
    const variant = {
      ...this.#variant,
      importModuleLoader: async () => loader,
    } as unknown as QuickJSSyncVariant;
    const engine = await this.#core.newQuickJSWASMModuleFromVariant(variant);
    if (raw === undefined) throw new Error("the engine did not load");
    return { engine, raw };
  }

  #prelude(context: QuickJSContext): Pick<Sandbox, "answer" | "fire" | "finish"> {
    const host = context.newFunction("host", () => undefined);
    const prelude = context.unwrapResult(context.evalCode(this.#preludeText, "hermes-prelude.js"));
    const made = context.unwrapResult(context.callFunction(prelude, context.undefined, host));
    return {
      answer: context.getProp(made, "answer"),
      fire: context.getProp(made, "fire"),
      finish: context.getProp(made, "finish"),
    };
  }
}

/** The library keeps the addresses of its own objects to itself. */
function addressOf(owner: QuickJSContext | QuickJSRuntime, field: "ctx" | "rt"): number {
  const { value } = (owner as unknown as Record<string, { value: unknown } | undefined>)[field] ?? {};
  if (typeof value !== "number") throw new Error(`this version of the engine has no ${field}`);
  return value;
}

/** CommonJS, bundles and Node each wrap a module's one export a little differently. */
function unwrapDefault<T>(module: unknown): T {
  const inner = (module as { default?: unknown }).default;
  return (inner === undefined ? module : unwrapDefault(inner)) as T;
}
