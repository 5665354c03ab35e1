import { deferred } from "../../base/deferred.js";
import { ToolError } from "../../tool/errors.js";
import type { Survivor } from "../environment.js";
import { missingFolder } from "../missing-folder.js";
import { FrameReader } from "./report-frames.js";
import type { ReportKind } from "./wrapper.js";

const MAX_NOISE = 4_096;
const MAX_LEFT = 50;

export interface InboxOptions {
  readonly token: string;
  readonly name: string;
  readonly cwd: string;
  readonly streams: "merged" | "apart" | "terminal";
  onStdout(bytes: Uint8Array): void;
  onStderr?(bytes: Uint8Array): void;
}

/** Everything that arrives from one wrapper: its reports are kept, the command's own bytes are passed on. */
export class Inbox {
  readonly begun = deferred<true>();
  readonly exited = deferred<number>();
  readonly terminalReady = deferred<true>();
  wrapperPid: number | undefined;
  pid: number | undefined;
  cwd: string | undefined;
  vars: Buffer | undefined;
  left: readonly Survivor[] | undefined;
  /** When the last bytes came, in the time of `performance.now`. */
  lastArrival = 0;
  /** What was printed by something else than the command. */
  noise = "";
  readonly #options: InboxOptions;
  readonly #frames: FrameReader;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#frames = new FrameReader(options.token, {
      onFrame: (kind, body) => this.#takeReport(kind as ReportKind, body),
      onRest: (bytes) => this.#takeRest(bytes),
    });
  }

  stdout(bytes: Uint8Array): void {
    this.lastArrival = performance.now();
    // In a terminal the reports come first; once the command has begun every byte is its own.
    if (this.#options.streams !== "terminal" || this.pid !== undefined) {
      this.#options.onStdout(bytes);
      return;
    }
    this.#frames.push(bytes);
    if (this.pid !== undefined) this.#frames.finish();
  }

  stderr(bytes: Uint8Array): void {
    if (this.#options.streams === "terminal") this.stdout(bytes);
    else this.#frames.push(bytes);
  }

  finish(): void {
    this.#frames.finish();
  }

  #takeRest(bytes: Uint8Array): void {
    const { streams } = this.#options;
    if (streams === "apart") this.#options.onStderr?.(bytes);
    else if (streams === "terminal" && this.pid !== undefined) this.#options.onStdout(bytes);
    else if (this.noise.length < MAX_NOISE) this.noise += Buffer.from(bytes).toString();
  }

  #takeReport(kind: ReportKind, body: Buffer): void {
    const text = body.toString();
    switch (kind) {
      case "a":
        this.wrapperPid = Number(text);
        break;
      case "p":
        this.pid = Number(text);
        this.begun.resolve(true);
        break;
      case "cd":
        this.begun.reject(folderError(text, this.#options.cwd));
        break;
      case "r":
        this.terminalReady.resolve(true);
        break;
      case "tty":
        this.begun.reject(noTerminal(this.#options.name));
        break;
      case "cwd":
        this.cwd = text.replace(/\n$/, "");
        break;
      case "vars":
        this.vars = Buffer.from(body);
        break;
      case "left":
        this.left = readLeft(text);
        break;
      case "x":
        this.exited.resolve(Number(text));
        break;
    }
  }
}

function readLeft(text: string): readonly Survivor[] {
  const rows = text.split("/").slice(0, MAX_LEFT);
  return rows.flatMap((row) => {
    const match = /^(\d+) ([\s\S]*)$/.exec(row);
    return match === null ? [] : [{ pid: Number(match[1]), command: match[2] ?? "" }];
  });
}

export function cannotRunIn(cwd: string, why: string): ToolError {
  return new ToolError(`Cannot run in ${JSON.stringify(cwd)}: ${why}.`, {
    hint: "Give an existing folder as the working directory.",
  });
}

function folderError(why: string, cwd: string): ToolError {
  if (why === "missing") return missingFolder(cwd);
  return cannotRunIn(cwd, why === "file" ? "it is not a folder" : "permission denied");
}

function noTerminal(name: string): ToolError {
  return new ToolError(`A terminal could not be set up in ${name}: it needs the program stty.`, {
    code: "unavailable",
    hint: "Run the command without a terminal, or install coreutils or busybox there.",
  });
}
