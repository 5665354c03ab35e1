import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import type { Writable } from "node:stream";
import type { Child, ChildStart, StartFailure, StartInTerminal } from "./child.js";
import { type GivenDescriptor, type Launcher, openLauncher } from "./launcher/launcher.js";
import { startWithNode } from "./node-starter.js";
import { readPipe, together } from "./output-reader.js";
import { inputFile, PipeStock } from "./pipes.js";
import { marked, processTable } from "./process-table.js";
import { endTree } from "./process-tree.js";
import { WaitingShells } from "./waiting-shells.js";

export interface StarterOptions {
  /** See RUNTIME_MARK. */
  readonly mark: string;
  /** Folder for what must touch the disk for a moment. */
  readonly folder?: string | undefined;
  /** Where to look for the programs this needs itself. */
  readonly path?: string | undefined;
  /** False starts everything from this process. */
  readonly launcher: boolean;
}

/** Starts the programs of one environment: from the launcher where there is one, from this process elsewhere. */
export class Starter {
  readonly #options: StarterOptions;
  readonly #folder: string;
  #launcher: Promise<Launcher | undefined> | undefined;
  #shells: WaitingShells | undefined;
  #pipes: PipeStock | undefined;
  /** Of everything that this process itself has started; a launcher knows without them. */
  readonly #marks = new Set<string>();
  #strangers = false;

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#folder = options.folder ?? tmpdir();
  }

  start = async (start: ChildStart): Promise<Child | StartFailure> => {
    const launcher = await this.#currentLauncher();
    if (launcher !== undefined) {
      return this.#shells?.take(start) ?? startFromLauncher(start, { launcher, folder: this.#folder });
    }
    this.#pipes ??= new PipeStock({ folder: this.#folder, path: this.#options.path });
    this.#marks.add(start.mark);
    return startWithNode(start, { pipes: this.#pipes, folder: this.#folder });
  };

  startInTerminal: StartInTerminal = async ({ path, filter, ...start }) => {
    const launcher = await this.#currentLauncher();
    if (launcher === undefined) return { stage: "resources", code: "ENOSYS" };
    const given: readonly GivenDescriptor[] = filter === undefined ? [] : ["nothing", { ours: filter }];
    return launcher.launch({ ...start, descriptors: [{ terminal: path }, "same", "same", ...given] });
  };

  /** The process that starts programs, where there is one. */
  launcher = (): Promise<Launcher | undefined> => this.#currentLauncher();

  /** Something that carries the mark is started by others; it ends with this runtime where a launcher works. */
  async expectStrangers(): Promise<void> {
    if (this.#strangers) return;
    this.#strangers = true;
    (await this.#currentLauncher())?.watchForStrangers();
  }

  /** Ends whatever is left of what was started here. */
  async close(): Promise<void> {
    this.#shells?.close();
    await (await this.#launcher)?.close();
    await this.#endMarked();
    this.#pipes?.close();
  }

  async #endMarked(): Promise<void> {
    if (this.#marks.size === 0) return;
    const table = await processTable();
    const left = table === undefined ? [] : [...(await marked(table)).keys()];
    const own = left.filter((mark) => this.#marks.has(mark));
    await Promise.all(own.map((mark) => endTree({ pid: undefined, mark })));
  }

  async #currentLauncher(): Promise<Launcher | undefined> {
    if (!this.#options.launcher) return undefined;
    this.#launcher ??= this.#open();
    const current = this.#launcher;
    const launcher = await current;
    if (launcher === undefined || launcher.alive) return launcher;
    // Somebody who waited as well may have opened a new one already.
    if (this.#launcher === current) {
      // The old one's orphans carry the mark, but they are nobody's descendants now.
      this.#strangers = true;
      this.#launcher = this.#open();
    }
    return this.#currentLauncher();
  }

  async #open(): Promise<Launcher | undefined> {
    const runtimeMark = this.#options.mark;
    const launcher = await openLauncher(runtimeMark);
    if (this.#strangers) launcher?.watchForStrangers();
    this.#shells?.close();
    this.#shells = launcher === undefined ? undefined : new WaitingShells({ launcher, runtimeMark });
    return launcher;
  }
}

/** Starts a program from the launcher and connects its streams to this process. */
async function startFromLauncher(
  start: ChildStart,
  host: { readonly launcher: Launcher; readonly folder: string },
): Promise<Child | StartFailure> {
  const { input, filter, onStderr } = start;
  const file = typeof input === "string" ? undefined : await inputFile(host.folder, input.bytes);
  const descriptors: readonly GivenDescriptor[] = [
    input === "nothing" ? "nothing" : file === undefined ? "input" : { ours: file },
    input === "open" ? "output" : "flood",
    onStderr === undefined ? "same" : "output",
    ...(start.report ? (["report"] as const) : []),
    ...(filter === undefined ? [] : [{ ours: filter }]),
  ];
  try {
    const { argv, cwd, env, joinFiles = [], boundary } = start;
    const launched = await host.launcher.launch({ argv, cwd, env, descriptors, joinFiles, boundary });
    if ("stage" in launched) return launched;
    const ends = [...launched.ends];
    const writable = descriptors[0] === "input" ? writePipe(ends.shift()) : undefined;
    if (typeof input === "object") writable?.end(input.bytes);
    const readers = [start.onOutput, onStderr].flatMap((take) => {
      const end = take === undefined ? undefined : ends.shift();
      return take === undefined || end === undefined ? [] : [readPipe(end, take.bind(start))];
    });
    const output = together(readers);
    return {
      pid: launched.pid,
      mark: start.mark,
      exited: launched.exited,
      outputEnded: output.ended,
      input: input === "open" ? writable : undefined,
      pauseOutput: output.pause,
      letGo: output.letGo,
    };
  } finally {
    for (const descriptor of [file, filter]) if (descriptor !== undefined) closeSync(descriptor);
  }
}

function writePipe(descriptor: number | undefined): Writable | undefined {
  if (descriptor === undefined) return undefined;
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  // A program may end without reading all of its input.
  socket.on("error", () => {});
  return socket;
}
