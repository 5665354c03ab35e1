import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../store/process-owner.js";
import { namesIn } from "../names-in.js";
import type { Mount } from "./mounts.js";
import { realPath } from "./real-path.js";

const NAME = /^hermes-tmp-(\d+)-/;
/** By their names in the session's own folder. */
const PLACES = { tmp: "/tmp", "var-tmp": "/var/tmp" } as const;

/** What stands for a folder of temporary files inside: where it is seen, and where it lies. */
export interface PrivateFolder {
  readonly shown: string;
  readonly real: string;
}

/** Temporary folders that the commands of one session share with each other and with nobody else. */
export class PrivateTmp {
  readonly #folder: string;
  #base: string | undefined;
  readonly #sessions = new Map<string, readonly PrivateFolder[]>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(session: string): readonly PrivateFolder[] {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    this.#base ??= this.#makeBase();
    const own = mkdtempSync(join(this.#base, "session-"));
    const made = Object.entries(PLACES).flatMap(([name, path]): PrivateFolder[] => {
      const shown = realPath(path);
      if (shown === undefined || shown === "/") return [];
      const real = join(own, name);
      mkdirSync(real);
      // As everywhere: programs look at it before they trust it. The folder above is the person's alone.
      chmodSync(real, 0o1777);
      return [{ shown, real }];
    });
    this.#sessions.set(session, made);
    return made;
  }

  known(session: string): readonly PrivateFolder[] {
    return this.#sessions.get(session) ?? [];
  }

  /** Of every session of this person: a command must not see them at the place where they lie. */
  others(): readonly string[] {
    return namesIn(this.#folder)
      .filter((name) => NAME.test(name))
      .map((name) => join(this.#folder, name));
  }

  forget(session: string): void {
    const [first] = this.#sessions.get(session) ?? [];
    this.#sessions.delete(session);
    if (first !== undefined) removeAll(join(first.real, ".."));
  }

  close(): void {
    if (this.#base !== undefined) removeAll(this.#base);
    this.#base = undefined;
    this.#sessions.clear();
  }

  #makeBase(): string {
    for (const path of this.others()) {
      const owner = Number(NAME.exec(path.slice(path.lastIndexOf("/") + 1))?.[1]);
      if (!isAlive(owner)) removeAll(path);
    }
    return realPath(mkdtempSync(join(this.#folder, `hermes-tmp-${process.pid}-`))) ?? this.#folder;
  }
}

/** A command may have left folders that cannot be emptied; what is left is taken by the next runtime. */
function removeAll(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // See above.
  }
}

export function privateMounts(folders: readonly PrivateFolder[]): readonly Mount[] {
  return folders.map(({ shown, real }): Mount => ({ kind: "private", path: shown, from: real }));
}
