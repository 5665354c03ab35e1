import { randomBytes } from "node:crypto";
import { PauseSwitch } from "../cloud/cloud-environment.js";
import type { TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";
import {
  type Answer,
  inputEndScript,
  inputScript,
  pollScript,
  readAnswer,
  type ScriptInput,
  startScript,
} from "./scripts.js";
import type { Toolbox } from "./toolbox.js";

/** More does not fit on the line of a request; it is uploaded as a file. */
const MAX_INLINE_BYTES = 49_152;

export interface PipedProcessOptions {
  readonly toolbox: Toolbox;
  readonly request: TransportStart;
  /** Why the sandbox does not answer; `started` tells whether the program ever ran. */
  whyLost(error: unknown, started: boolean): Promise<string>;
}

/** One running program without a terminal: its streams are fetched piece by piece, see scripts.ts. */
export class PipedProcess implements TransportProcess {
  readonly ended: Promise<TransportEnd>;
  readonly #options: PipedProcessOptions;
  readonly #folder = `/tmp/.hermes-${randomBytes(8).toString("hex")}`;
  readonly #stop = new AbortController();
  #inputs: Promise<void> = Promise.resolve();
  #inputPieces = 0;
  #started = false;
  #stdout = 0;
  #stderr = 0;
  #known = "";
  #exitCode: number | undefined;
  readonly #paused = new PauseSwitch();

  private constructor(options: PipedProcessOptions, first: Promise<Answer>) {
    this.#options = options;
    this.ended = this.#follow(first).finally(() => {
      this.#stop.abort();
      options.toolbox.forget(this.#folder);
    });
  }

  /** With open input, resolves when the program runs; otherwise at once, and a failure is told by `ended`. */
  static async start(options: PipedProcessOptions): Promise<PipedProcess> {
    const { toolbox, request } = options;
    let answered: (answer: Promise<Answer>) => void = () => {};
    const first = new Promise<Answer>((resolve) => {
      answered = resolve;
    });
    const process = new PipedProcess(options, first);
    const started = (async () => {
      const input = await scriptInput({ stdin: request.stdin, toolbox, folder: process.#folder });
      return await process.#ask(startScript({ folder: process.#folder, argv: request.argv, input }));
    })();
    answered(started);
    if (request.stdin === "open") await started.catch(() => {});
    return process;
  }

  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    return this.#inOrder(async () => {
      for (let from = 0; from < bytes.length; from += MAX_INLINE_BYTES) {
        const piece = { number: this.#inputPieces++, bytes: bytes.subarray(from, from + MAX_INLINE_BYTES) };
        const script = inputScript(this.#folder, piece);
        while (!this.#stop.signal.aborted && (await this.#run(script)).includes("full"));
      }
    });
  }

  closeInput(): Promise<void> {
    return this.#inOrder(async () => {
      await this.#run(inputEndScript(this.#folder));
    });
  }

  resize(): void {}

  pauseOutput(paused: boolean): void {
    this.#paused.set(paused);
  }

  abandon(): void {
    this.#stop.abort();
    this.pauseOutput(false);
  }

  /** What cannot be given to a program any more is dropped. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#inputs = this.#inputs.then(work).catch(() => {});
    return this.#inputs;
  }

  #run(script: string): Promise<string> {
    return this.#options.toolbox.run(script, this.#stop.signal);
  }

  async #ask(script: string): Promise<Answer> {
    const text = await this.#run(script);
    const answer = readAnswer(text);
    if (answer.gone) throw new Error("the supervisor of the program is gone");
    if (answer.full) throw new Error("the disk of the sandbox is full");
    if (!answer.complete) throw new Error(`unexpected answer: ${text.trim().slice(0, 200)}`);
    this.#started = true;
    return answer;
  }

  async #follow(first: Promise<Answer>): Promise<TransportEnd> {
    let seen = { seen_stdout: 0, seen_stderr: 0 };
    try {
      for (let answer = await first; ; ) {
        await this.#paused.passed();
        const end = this.#take(answer);
        if (end !== undefined) return end;
        const poll = { folder: this.#folder, stdout: this.#stdout, stderr: this.#stderr, known: this.#known };
        answer = await this.#ask(pollScript({ ...poll, ...seen, wait: "news" }));
        seen = { seen_stdout: poll.stdout, seen_stderr: poll.stderr };
      }
    } catch (error) {
      if (this.#stop.signal.aborted)
        return this.#exitCode === undefined
          ? { lost: "it was let go before it had ended" }
          : { exitCode: this.#exitCode };
      return { lost: await this.#options.whyLost(error, this.#started) };
    }
  }

  #take(answer: Answer): TransportEnd | undefined {
    if (this.#stop.signal.aborted) throw new Error("let go");
    const { request } = this.#options;
    if (answer.stdout !== undefined) {
      this.#stdout = answer.stdout.next;
      request.onStdout(answer.stdout.bytes);
    }
    if (answer.stderr !== undefined) {
      this.#stderr = answer.stderr.next;
      request.onStderr(answer.stderr.bytes);
    }
    this.#exitCode ??= answer.exitCode;
    const idle = answer.stdout === undefined && answer.stderr === undefined;
    if (answer.dead && idle) throw new Error("the supervisor of the program was killed");
    this.#note("x", this.#exitCode !== undefined);
    this.#note("o", answer.stdoutEnded);
    this.#note("e", answer.stderrEnded);
    if (this.#exitCode === undefined || !this.#known.includes("o") || !this.#known.includes("e"))
      return undefined;
    return { exitCode: this.#exitCode };
  }

  #note(mark: string, isKnown: boolean): void {
    if (isKnown && !this.#known.includes(mark)) this.#known += mark;
  }
}

async function scriptInput(from: {
  readonly stdin: TransportStart["stdin"];
  readonly toolbox: Toolbox;
  readonly folder: string;
}): Promise<ScriptInput> {
  const { stdin, toolbox, folder } = from;
  if (stdin === undefined) return "none";
  if (stdin === "open") return "open";
  const bytes = typeof stdin === "string" ? Buffer.from(stdin) : stdin;
  if (bytes.length <= MAX_INLINE_BYTES) return { bytes };
  const file = `${folder}.in`;
  await toolbox.upload(file, bytes);
  return { file };
}
