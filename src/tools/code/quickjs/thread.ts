import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { QUICKJS_PRELUDE } from "../scripts.gen.js";
import { type FromThread, type Order, SHARED, type ThreadData, type ToThread } from "./protocol.js";

/** What a script does with the stack of its engine must end in the engine's own error, long before this. */
const STACK_MB = 32;
/** For text that is on its way; the script's own memory is not counted here. */
const HEAP_MB = 512;

export interface ThreadEvents {
  message(message: FromThread): void;
  /** The thread is gone; nothing more will come. */
  died(reason: string): void;
}

/** A thread that runs scripts. It serves one script at a time and can be ended at any moment without harm. */
export class ScriptThread {
  readonly #worker: Worker;
  readonly #shared = new Int32Array(new SharedArrayBuffer(SHARED.bytes));
  #events: ThreadEvents | undefined;
  #dead: string | undefined;

  constructor(memoryBytes: number) {
    const find = createRequire(import.meta.url);
    const data: ThreadData = {
      corePath: find.resolve("quickjs-emscripten-core"),
      variantPath: find.resolve("@jitl/quickjs-wasmfile-release-sync"),
      wasmPath: find.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"),
      prelude: QUICKJS_PRELUDE,
      shared: this.#shared.buffer as SharedArrayBuffer,
      memoryBytes,
    };
    this.#worker = new Worker(locateProgram(), {
      workerData: data,
      // Neither the variables nor the output of this process are any of its business.
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#events?.message(message));
    this.#worker.on("error", (error: Error) => this.#die(error.message));
    this.#worker.on("exit", () => this.#die("the thread ended"));
  }

  get alive(): boolean {
    return this.#dead === undefined;
  }

  /** Begins a script; from now on `events` are told what it does. */
  begin(order: Order, events: ThreadEvents): void {
    this.#events = events;
    Atomics.store(this.#shared, SHARED.stop, 0);
    this.#worker.ref();
    if (this.#dead === undefined) this.#send(order);
    else events.died(this.#dead);
  }

  answer(text: string): void {
    this.#send(text);
  }

  /** Asks the script to end; a busy one notices within moments. */
  stop(): void {
    Atomics.store(this.#shared, SHARED.stop, 1);
    this.#send({ kind: "stop" });
  }

  /** The script is over and the thread may take another one. */
  rest(): void {
    this.#events = undefined;
    this.#worker.unref();
  }

  async end(): Promise<void> {
    this.#events = undefined;
    await this.#worker.terminate();
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
    Atomics.add(this.#shared, SHARED.sent, 1);
    Atomics.notify(this.#shared, SHARED.sent);
  }

  #die(reason: string): void {
    if (this.#dead !== undefined) return;
    this.#dead = reason;
    this.#events?.died(reason);
  }
}

/** The built file, next to wherever the bundler put this code; from source, the files transpiled in memory. */
function locateProgram(): URL {
  for (const place of ["./", "./tools/", "../tools/", "../../tools/"]) {
    const built = new URL(`${place}quickjs-worker.js`, import.meta.url);
    if (existsSync(built)) return built;
  }
  const ts = createRequire(import.meta.url)("typescript6") as typeof import("typescript6");
  const transpiled = (file: URL): string => {
    const source = readFileSync(file, "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    const linked = outputText.replace(
      /from "(\.[\w./-]+)\.js"/g,
      (_, inner: string) => `from "${transpiled(new URL(`${inner}.ts`, file))}"`,
    );
    return `data:text/javascript;base64,${Buffer.from(linked).toString("base64")}`;
  };
  return new URL(transpiled(new URL("./worker.ts", import.meta.url)));
}
