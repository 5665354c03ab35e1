import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, Survivor, TerminalSize } from "../environment.js";
import type { Screen, ScreenState } from "../pty/screen.js";
import type { FlowControl } from "./flow-control.js";
import { OutputRing } from "./output-ring.js";
import { PendingInput } from "./pending-input.js";
import { KILLED } from "./process-rows.js";
import type { ProcessInfo, ReadyReport, StartProcess, TrackedProcess } from "./types.js";

/** One process that is being followed; the table decides what becomes of it. */
export class Tracked implements TrackedProcess {
  readonly id: string;
  readonly ring: OutputRing;
  readonly ended: Promise<ProcessEnd>;
  readonly #request: StartProcess;
  readonly #command: string;
  readonly #pending = new PendingInput();
  readonly #listeners = new Set<(bytes: Uint8Array) => void>();
  readonly #onHandOff: (process: Tracked) => void;
  readonly #startedAt: number;
  readonly #now: () => number;
  readonly #flow: FlowControl;
  #session: string;
  #running: RunningProcess | undefined;
  #end: { readonly at: number; readonly end: ProcessEnd } | undefined;
  #resolveEnd: (end: ProcessEnd) => void = () => undefined;
  #lastOutput = performance.now();
  /** Bytes since it last had to wait for its turn. */
  #taken = 0;
  #handedOff = false;
  #killed = false;
  #killing: Promise<readonly Survivor[]> | undefined;
  readonly #screen: Promise<Screen> | undefined;
  ready: ReadyReport | undefined = undefined;
  notes: readonly string[] = [];

  constructor(options: {
    readonly id: string;
    readonly session: string;
    readonly request: StartProcess;
    /** As it is shown, secrets masked. */
    readonly command: string;
    readonly keepChars: number;
    readonly now: () => number;
    readonly flow: FlowControl;
    readonly onHandOff: (process: Tracked) => void;
  }) {
    this.id = options.id;
    this.#session = options.session;
    this.#request = options.request;
    this.#command = options.command;
    this.#now = options.now;
    this.#flow = options.flow;
    this.#startedAt = options.now();
    this.#onHandOff = options.onHandOff;
    this.ring = new OutputRing(options.keepChars);
    const { pty } = options.request;
    this.#screen = pty === undefined ? undefined : this.#openScreen(pty);
    this.ended = new Promise((resolve) => {
      this.#resolveEnd = resolve;
    });
  }

  /** Everything it prints goes through here, also before it is known to have started. */
  take(bytes: Uint8Array): void {
    this.#lastOutput = performance.now();
    this.ring.push(bytes);
    for (const listener of this.#listeners) listener(bytes);
    this.#taken += bytes.length;
    if (this.#running === undefined) return;
    if (this.#taken >= this.#flow.allowance) {
      this.#taken = 0;
      this.#flow.wait(this.#running);
    }
    this.#flow.took(bytes.length);
  }

  /** The returned function ends it. */
  listen(listener: (bytes: Uint8Array) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  follow(running: RunningProcess): void {
    this.#running = running;
    this.#flow.add(running);
    void running.ended.then((end) => this.#finish(end));
  }

  #finish(end: ProcessEnd): void {
    const seen = this.#killed ? { ...end, exitCode: KILLED } : end;
    this.#end = { at: this.#now(), end: seen };
    if (this.#running !== undefined) this.#flow.remove(this.#running);
    this.#listeners.clear();
    this.#resolveEnd(seen);
  }

  get running(): boolean {
    return this.#end === undefined;
  }

  get heldBy(): RunningProcess["heldBy"] {
    return this.#running?.heldBy;
  }

  get endedAt(): number | undefined {
    return this.#end?.at;
  }

  get session(): string {
    return this.#session;
  }

  get handedOff(): boolean {
    return this.#handedOff;
  }

  get info(): ProcessInfo {
    const done = this.#end;
    const lost = done?.end.lost;
    return {
      id: this.id,
      session: this.#session,
      command: this.#command,
      cwd: this.#request.cwd,
      environment: this.#request.environment.name,
      pid: this.#running?.pid,
      pty: this.#running?.pty ?? this.#request.pty !== undefined,
      status: done === undefined ? "running" : lost === undefined ? "exited" : "lost",
      startedAt: this.#startedAt,
      endedAt: done?.at,
      exitCode: lost === undefined ? done?.end.exitCode : undefined,
      lost,
      handedOff: this.#handedOff,
      outputBytes: this.ring.totalBytes,
    };
  }

  get quietMs(): number {
    return performance.now() - this.#lastOutput;
  }

  get pendingInput(): string {
    return this.#pending.text;
  }

  get sentInput(): string {
    return this.#pending.sent;
  }

  tail(chars: number): string {
    return this.ring.tail(chars);
  }

  lines({ offset, limit }: { readonly offset?: number | undefined; readonly limit: number }) {
    const lines = this.ring.text().split("\n");
    // What follows the last new line is a line only when there is something.
    if (lines.at(-1) === "") lines.pop();
    const from = offset ?? Math.max(0, lines.length - limit);
    return { lines: lines.slice(from, from + limit), total: lines.length, dropped: this.ring.dropped };
  }

  bytes(): Buffer {
    return this.ring.bytes();
  }

  screen(): Promise<ScreenState> | undefined {
    return this.#screen?.then((screen) => screen.state());
  }

  /** It sees everything from the start, so that it can answer what programs ask a terminal. */
  async #openScreen(size: TerminalSize): Promise<Screen> {
    const { Screen } = await import("../pty/screen.js");
    const onReply = (text: string) => void this.#running?.write(text).catch(() => undefined);
    const screen = new Screen(size, { onReply });
    screen.feed(this.ring.bytes());
    // The screen draws later, when the bytes may have been overwritten.
    if (this.running) this.listen((bytes) => screen.feed(new Uint8Array(bytes)));
    return screen;
  }

  async write(data: string): Promise<void> {
    const running = this.#alive("gets no input");
    this.#pending.add(data);
    await running.write(data);
  }

  closeInput(): Promise<void> {
    return this.#alive("gets no input").closeInput();
  }

  resize(size: TerminalSize): void {
    const running = this.#alive("has no terminal");
    if (this.#screen === undefined) {
      throw new ToolError(`${this.id} has no terminal whose size could change.`, {
        code: "invalid_arguments",
        hint: "Start it with pty: true to give it one.",
      });
    }
    running.resize(size);
    void this.#screen.then((screen) => screen.resize(size));
  }

  async waitsForInput(): Promise<boolean | undefined> {
    return this.running ? this.#running?.waitsForInput() : false;
  }

  kill(): Promise<readonly Survivor[]> {
    if (!this.running || this.#running === undefined) return Promise.resolve([]);
    this.#killed = true;
    this.#killing ??= this.#running.end().finally(() => {
      // Asked again, it tries again what it could not end.
      this.#killing = undefined;
    });
    return this.#killing;
  }

  handOff(): void {
    if (!this.#handedOff) this.#onHandOff(this);
  }

  /** Frees what only somebody who looks at it would need. */
  dispose(): void {
    void this.#screen?.then((screen) => screen.dispose());
  }

  /** Whose it is from now on. */
  give(to: { readonly session: string; readonly handedOff: boolean }): void {
    this.#session = to.session;
    this.#handedOff = to.handedOff;
  }

  #alive(what: string): RunningProcess {
    if (this.#running !== undefined && this.running) return this.#running;
    throw new ToolError(`${this.id} has ended and ${what}.`, {
      hint: "Look at its output with the action log, or start it again.",
    });
  }
}
