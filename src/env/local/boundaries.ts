import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isAtOrBelow } from "../../base/path.js";
import { ToolError } from "../../tool/errors.js";
import { findProgram } from "../find-program.js";
import { guardArguments } from "../sandbox/guard-arguments.js";
import { type GuardPlan, type GuardRequest, guardPlan } from "../sandbox/guard-plan.js";
import { landlockRules, timesOf } from "../sandbox/landlock-rules.js";
import { NameWatch } from "../sandbox/name-watch.js";
import { explainBwrap, findBwrap, probeBwrap, type Unavailable } from "../sandbox/probe.js";
import { realPath } from "../sandbox/real-path.js";
import { filterArch, ownerFilter } from "../sandbox/seccomp.js";
import { UnheldNames } from "../sandbox/unheld-names.js";
import { type Launcher, openLauncher } from "./launcher/launcher.js";

/** What root keeps of its rights: over files and over who it is, and nothing over the machine. */
const ROOT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"] as const;
const CAPABILITY_NUMBER = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, FSETID: 4, KILL: 5, SETGID: 6, SETUID: 7 };
/** Kept open at once; the one that was not used for longest goes. */
const MAX_BOUNDARIES = 16;
const TRY_AGAIN_MS = 30_000;
const MAX_ATTEMPTS = 5;

/** A boundary of the launcher's that programs are started in, for as long as the plan behind it holds. */
export interface Boundary {
  readonly id: number;
  readonly plan: GuardPlan;
  readonly by: "bubblewrap" | "Landlock";
  /** For temporary files, where nothing new can be made in the usual folder. */
  readonly tmp: string | undefined;
  /** To be called when a program starts in it; answers with what to call when it has ended. */
  enter(): () => void;
  /** Start-up files that programs have made and that were taken away, since it was asked for last. */
  taken(): readonly string[];
  /** Whoever asked for it has started its program, or will not: until then it stays. */
  release(): void;
}

interface Held {
  readonly launcher: Launcher;
  readonly boundary: Omit<Boundary, "release">;
  /** Those who asked for it and have not released it. */
  users: number;
  isForgotten: boolean;
  /** Whether everything is still as it was planned for. */
  holds(): boolean;
}

interface Enclosing {
  readonly request: GuardRequest;
  readonly launcher: Launcher;
  /** Where bubblewrap is, or why there is none. */
  readonly program: string | Unavailable;
}

export interface BoundariesOptions {
  readonly launcher: () => Promise<Launcher | undefined>;
  /** Where bubblewrap is, when it is not in a system folder. */
  readonly program?: string | undefined;
  readonly path?: string | undefined;
  /** For what must touch the disk for a moment. */
  readonly folder: string;
}

/**
 * The boundaries around the commands of one environment, one for each different plan: made at the first command, entered
 * by all that follow. A change that a plan does not know of (a start-up file that was not there) makes a new one.
 */
export class Boundaries {
  readonly #options: BoundariesOptions;
  readonly #held = new Map<string, Promise<Held | Unavailable>>();
  /** Names that were changed with a person's consent, by file tools or outside. */
  readonly #allowed = new Set<string>();
  readonly #watched = new Set<UnheldNames>();
  #outside = 0;
  /** Whether bubblewrap makes boundaries here, once that is known. */
  #works: boolean | undefined;
  #tmp: string | undefined;

  constructor(options: BoundariesOptions) {
    this.#options = options;
    refuseDebugger();
  }

  async for(request: GuardRequest): Promise<Boundary | Unavailable> {
    const key = JSON.stringify(request);
    for (;;) {
      const known = this.#held.get(key);
      const held = await (known ?? this.#make(key, request));
      if ("unavailable" in held) return held;
      if (known === undefined || (held.launcher.alive && held.holds())) return this.#lent(key, held);
      // Somebody who waited as well may have replaced it already.
      if (this.#held.get(key) === known) this.#forget(key);
    }
  }

  /** A change of this name is meant: a file tool makes it, or a person has said yes to it. */
  allow(path: string): void {
    this.#allowed.add(path);
  }

  /** To be called when nothing runs any more. */
  close(): void {
    for (const names of this.#watched) names.close();
    if (this.#tmp !== undefined) rmSync(this.#tmp, { recursive: true, force: true });
  }

  /** While a command runs outside with a person's consent, what appears is its doing. */
  goOutside(): () => void {
    this.#outside += 1;
    return () => {
      this.#outside -= 1;
    };
  }

  #make(key: string, request: GuardRequest): Promise<Held | Unavailable> {
    const making = this.#enclose(request);
    this.#held.set(key, making);
    // What went wrong on a busy machine, or because the helper had just ended, may go well the next time.
    const drop = () => this.#held.get(key) === making && this.#held.delete(key);
    making.then((held) => "unavailable" in held && setTimeout(drop, TRY_AGAIN_MS).unref(), drop);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MAX_BOUNDARIES && oldest !== undefined) this.#forget(oldest);
    return making;
  }

  /** Others may want theirs before this one has started its program: it is not dissolved under its feet. */
  #lent(key: string, held: Held): Boundary {
    held.users += 1;
    const making = this.#held.get(key);
    if (making !== undefined) {
      this.#held.delete(key);
      this.#held.set(key, making);
    }
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      held.users -= 1;
      dissolveUnused(held);
    };
    return { ...held.boundary, release };
  }

  #forget(key: string): void {
    const held = this.#held.get(key);
    this.#held.delete(key);
    void held?.then(
      (old) => {
        if ("unavailable" in old) return;
        old.isForgotten = true;
        dissolveUnused(old);
      },
      () => undefined,
    );
  }

  async #enclose(request: GuardRequest): Promise<Held | Unavailable> {
    const program = await findBwrap(this.#options.program);
    const launcher = await this.#options.launcher();
    if (launcher === undefined) {
      return {
        unavailable: "the helper process that starts commands needs Perl",
        fix: "install the package perl",
      };
    }
    this.#holdTmuxFolder();
    const { plan, watch, times, made } = await this.#encloseAgain({ request, launcher, program });
    const shut = typeof made === "number" ? undefined : await this.#shutIn(plan, launcher);
    const id = shut?.id ?? made;
    if (typeof id !== "number") return id;
    const unheld = new UnheldNames(plan.unheld, {
      isMeant: (path) => this.#outside > 0 || this.#isAllowed(path, request),
      leftRunning: () => launcher.hasOrphans(),
    });
    this.#watched.add(unheld);
    return {
      launcher,
      users: 0,
      isForgotten: false,
      boundary: {
        id,
        plan,
        by: shut === undefined ? "bubblewrap" : "Landlock",
        tmp: shut?.tmp,
        enter: () => unheld.enter(),
        taken: () => unheld.taken(),
      },
      holds: () => watch.changed().length === 0 && timesOf(plan.dated) === times && (shut?.holds() ?? true),
    };
  }

  /**
   * Where bubblewrap works, nothing less will do: a command in the background that makes and removes what is to be covered,
   * or uses up what namespaces need, would loosen the boundary of the next one.
   */
  async #encloseAgain({ request, launcher, program }: Enclosing) {
    for (let attempt = 1; ; attempt += 1) {
      const plan = guardPlan(request);
      // Before anything is made: what changes meanwhile shows as a change.
      const planned = { plan, watch: new NameWatch(plan.looked), times: timesOf(plan.dated) };
      if (typeof program !== "string") return { ...planned, made: program };
      const made = await this.#encloseAs({ plan, launcher, program, knowsModes: true });
      if (typeof made === "number") this.#works = true;
      this.#works ??= !("unavailable" in (await probeBwrap(program)));
      if (typeof made === "number" || !this.#works) return { ...planned, made };
      if (attempt === MAX_ATTEMPTS) throw cannotEnclose(made);
    }
  }

  async #encloseAs(boundary: {
    readonly plan: GuardPlan;
    readonly launcher: Launcher;
    readonly program: string;
    readonly knowsModes: boolean;
  }): Promise<number | Unavailable> {
    const { plan, launcher, program, knowsModes } = boundary;
    const root = process.getuid?.() === 0;
    const folder = mkdtempSync(join(this.#options.folder, "hermes-boundary-"));
    try {
      const copies = new Map<string, string>();
      for (const mount of plan.mounts) {
        if (mount.kind !== "copy") continue;
        const file = join(folder, String(copies.size));
        writeFileSync(file, mount.text, { mode: 0o600 });
        copies.set(mount.path, file);
      }
      const copyAt = (path: string) => copies.get(path) ?? "/dev/null";
      const arch = filterArch();
      const made = await launcher.enclose({
        argv: guardArguments({ program, mounts: plan.mounts, root, copyAt, knowsModes }),
        namespaces: ["mnt"],
        allIds: root,
        capabilities: root ? rootCapabilities() : 0n,
        filter: arch === undefined ? undefined : ownerFilter(arch, root),
      });
      if (typeof made === "number") return made;
      if (knowsModes && /unknown option --perms/i.test(made.problem)) {
        return await this.#encloseAs({ ...boundary, knowsModes: false });
      }
      return explainBwrap(made.problem);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Where no namespace can be made: undefined where the kernel has no Landlock either. */
  async #shutIn(plan: GuardPlan, launcher: Launcher) {
    const root = process.getuid?.() === 0;
    let { rules, walked } = landlockRules(plan.mounts, root);
    // Something kept lies below the temporary folder, such as a Hermes home that is to be thrown away.
    const tmp = walked.includes(realPath(tmpdir()) ?? "/tmp") ? this.#ownTmp() : undefined;
    if (tmp !== undefined) ({ rules, walked } = landlockRules(plan.mounts, root));
    const times = timesOf(walked);
    const arch = filterArch();
    const id = await launcher.shut(rules, {
      // With the right to look at the whole machine's performance, root could read environments all the same.
      capabilities: root ? rootCapabilities() & permittedCapabilities() : 0n,
      filter: arch === undefined ? undefined : ownerFilter(arch, root),
    });
    return typeof id === "number" ? { id, tmp, holds: () => timesOf(walked) === times } : undefined;
  }

  #ownTmp(): string {
    if (this.#tmp === undefined || realPath(this.#tmp) === undefined) {
      this.#tmp = mkdtempSync(join(tmpdir(), "hermes-tmp-"));
    }
    return this.#tmp;
  }

  #isAllowed(path: string, { writable }: GuardRequest): boolean {
    return [...this.#allowed, ...writable].some((allowed) => isAtOrBelow(path, allowed));
  }

  /** Made as tmux makes it, so that there is something to put a private one on: the person's own is not reachable then. */
  #holdTmuxFolder(): void {
    if (findProgram("tmux", { PATH: this.#options.path }) === undefined) return;
    try {
      mkdirSync(`/tmp/tmux-${userInfo().uid}`, { mode: 0o700 });
    } catch {
      // It is there already.
    }
  }
}

function dissolveUnused({ isForgotten, users, launcher, boundary }: Held): void {
  if (isForgotten && users === 0) launcher.dissolve(boundary.id);
}

function cannotEnclose({ unavailable }: Unavailable): ToolError {
  return new ToolError(`The boundary around commands could not be made this time: ${unavailable}.`, {
    code: "unavailable",
    hint: "Something may be using up what it needs: end background programs (`process`), then try again.",
  });
}

/** Node opens its debugger to everybody on this machine when it gets this signal, which every command may send. */
function refuseDebugger(): void {
  if (process.listenerCount("SIGUSR1") === 0) process.on("SIGUSR1", () => {});
}

/** What holds commands here, or why nothing does; tried with a helper process of its own. */
export async function probeGuard(home: string): Promise<Boundary["by"] | Unavailable> {
  const opening = openLauncher(randomUUID());
  const boundaries = new Boundaries({ launcher: () => opening, folder: tmpdir() });
  try {
    const made = await boundaries.for({
      homes: [home],
      others: [],
      workspace: undefined,
      hidden: [],
      program: [],
      shown: [],
      writable: [],
      runtimeDir: undefined,
      sshAgent: undefined,
    });
    return "unavailable" in made ? made : made.by;
  } finally {
    await (await opening)?.close();
    boundaries.close();
  }
}

function rootCapabilities(): bigint {
  return ROOT_CAPABILITIES.reduce((set, name) => set | (1n << BigInt(CAPABILITY_NUMBER[name])), 0n);
}

/** What this process has itself: in a container, root may have less than root has elsewhere. */
function permittedCapabilities(): bigint {
  const [, permitted = "0"] = /^CapPrm:\s*([0-9a-f]+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return BigInt(`0x${permitted}`);
}
