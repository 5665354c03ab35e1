/** The engine below its JavaScript interface: addresses in its memory are numbers. */
export interface Raw {
  readonly callbacks: {
    callFunction(
      asyncify: unknown,
      ...place: readonly [ctx: number, self: number, argc: number, argv: number]
    ): number;
  };
  _malloc(size: number): number;
  _free(at: number): void;
  _QTS_NewString(ctx: number, text: number): number;
  _QTS_GetString(ctx: number, value: number): number;
  _QTS_FreeCString(ctx: number, text: number): void;
  _QTS_FreeValuePointer(ctx: number, value: number): void;
  _QTS_ArgvGetJSValueConstPointer(argv: number, index: number): number;
  _QTS_Call(ctx: number, fn: number, self: number, argc: number, argv: number): number;
  _QTS_ResolveException(ctx: number, value: number): number;
  _QTS_GetUndefined(): number;
  _QTS_ExecutePendingJob(rt: number, atMost: number, lastContext: number): number;
  _QTS_GetFloat64(ctx: number, value: number): number;
}

/**
 * What happens once for every tool call: text in, text out, jobs run. The library's own interface does the same with
 * many small objects and takes twice the time.
 */
export class ValueBridge {
  readonly #raw: Raw;
  readonly #memory: { readonly buffer: ArrayBuffer };
  #bytes: Buffer;
  readonly #context: number;
  readonly #runtime: number;
  readonly #undefined: number;
  /** Room for one address. */
  readonly #slot: number;

  constructor(parts: {
    readonly raw: Raw;
    readonly memory: { readonly buffer: ArrayBuffer };
    readonly context: number;
    readonly runtime: number;
  }) {
    this.#raw = parts.raw;
    this.#memory = parts.memory;
    this.#bytes = Buffer.from(parts.memory.buffer);
    this.#context = parts.context;
    this.#runtime = parts.runtime;
    this.#undefined = parts.raw._QTS_GetUndefined();
    this.#slot = this.#take(4);
  }

  /** Every function of the host that the sandbox has goes here, with the text it was called with. */
  listen(hear: (said: string) => string | undefined): void {
    const raw = this.#raw;
    raw.callbacks.callFunction = (_asyncify, ctx, _self, _argc, argv) => {
      const text = raw._QTS_GetString(ctx, raw._QTS_ArgvGetJSValueConstPointer(argv, 0));
      if (text === 0) return 0;
      const heap = this.#heap;
      const said = heap.toString("utf8", text, heap.indexOf(0, text));
      raw._QTS_FreeCString(ctx, text);
      const reply = hear(said);
      return reply === undefined ? 0 : this.#newString(reply);
    };
  }

  /** Calls a function of the sandbox with one text. What it gives back is dropped. */
  call(fn: number, text: string): void {
    const raw = this.#raw;
    const given = this.#newString(text);
    this.#heap.writeUInt32LE(given, this.#slot);
    const outcome = raw._QTS_Call(this.#context, fn, this.#undefined, 1, this.#slot);
    const thrown = raw._QTS_ResolveException(this.#context, outcome);
    raw._QTS_FreeValuePointer(this.#context, given);
    raw._QTS_FreeValuePointer(this.#context, outcome);
    if (thrown === 0) return;
    raw._QTS_FreeValuePointer(this.#context, thrown);
    throw new Error("the engine could not go on");
  }

  /** How many of at most so many waiting jobs were run. */
  runJobs(atMost: number): number {
    const raw = this.#raw;
    const ran = raw._QTS_ExecutePendingJob(this.#runtime, atMost, this.#slot);
    const count = raw._QTS_GetFloat64(this.#context, ran);
    raw._QTS_FreeValuePointer(this.#context, ran);
    // Only what no script can catch ends a job: it was interrupted, or there is no memory left.
    if (Number.isNaN(count)) throw new Error("a job of the engine was cut short");
    return count;
  }

  /** Memory that has grown is another buffer; the one before is empty then. */
  get #heap(): Buffer {
    if (this.#bytes.byteLength === 0) this.#bytes = Buffer.from(this.#memory.buffer);
    return this.#bytes;
  }

  #newString(text: string): number {
    const length = Buffer.byteLength(text);
    const at = this.#take(length + 1);
    const heap = this.#heap;
    heap.write(text, at, length, "utf8");
    heap[at + length] = 0;
    const value = this.#raw._QTS_NewString(this.#context, at);
    this.#raw._free(at);
    return value;
  }

  #take(bytes: number): number {
    const at = this.#raw._malloc(bytes);
    if (at === 0) throw new Error("out of memory");
    return at;
  }
}
