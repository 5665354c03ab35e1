import { tmpdir } from "node:os";
import type { Child, ChildStart, StartFailure } from "./child.js";
import { type Launcher, openLauncher } from "./launcher/launcher.js";
import { startFromLauncher } from "./launcher/start-child.js";
import { startWithNode } from "./node-starter.js";
import { PipeStock } from "./pipes.js";
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

  async usesLauncher(): Promise<boolean> {
    return (await this.#currentLauncher()) !== undefined;
  }

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
