import type { Environment } from "../../env/environment.js";
import type { ConformanceContext } from "./context.js";

/** What not every kind of environment can do. */
export type ConformanceFeature =
  /** Its shell is bash, not only sh. */
  | "bash"
  /** A terminal for a spawned program. */
  | "pty"
  /** Variables of this process that are let through by name. */
  | "passthrough"
  /** A connection that can break, and a setup that can break it. */
  | "cut"
  /** A command's background children outlive it until the environment is closed. */
  | "background";

/** One kind of environment, and how to look at it from outside. */
export interface ConformanceSetup {
  /** Opens a new environment. The suite closes it. `passthrough`: variables of this process to let through. */
  open(options?: { readonly passthrough?: readonly string[] }): Promise<Environment>;
  /** A folder there that exists and in which folders may be made; "/tmp" when left out. */
  readonly place?: string | undefined;
  /**
   * Names everything that exists now because of environments of this setup, wherever it is: containers,
   * processes, sockets, temporary files. After the last close it must be what it was before the first open.
   */
  leftovers(): Promise<readonly string[]>;
  /**
   * Processes that carry this variable, looked for from where they cannot hide. Without it a command in the
   * environment looks, which needs /proc and grep there.
   */
  running?(variable: string, value: string): Promise<readonly string[]>;
  /** Breaks the connection under an open environment, as a failing network would. */
  cut?(environment: Environment): Promise<void>;
  /** After a cut: the next command connects again, or the environment is lost and says so. */
  readonly afterCut?: "works" | "lost";
  /** Bytes of the large output; 300,000,000 when left out. */
  readonly largeOutputBytes?: number;
  /** Time that a command surely needs no longer than to begin; 700 when left out. */
  readonly startMs?: number;
  /** What this kind of environment cannot do, with the reason. */
  readonly lacks?: Readonly<Partial<Record<ConformanceFeature, string>>>;
}

export interface ConformanceCase {
  readonly name: string;
  /** It measures time or memory, counts what is there, or cuts connections: nothing else may run beside it. */
  readonly alone: boolean;
  /** Why it does not apply to this setup; undefined when it does. */
  lacking(setup: ConformanceSetup): string | undefined;
  run(context: ConformanceContext): Promise<void>;
}

interface CaseTitle {
  readonly name: string;
  /** Features without which it makes no sense. */
  readonly needs?: readonly ConformanceFeature[] | undefined;
  readonly alone?: boolean;
}

export function conformanceCase(title: string | CaseTitle, run: ConformanceCase["run"]): ConformanceCase {
  const { name, needs = [], alone = false }: CaseTitle = typeof title === "string" ? { name: title } : title;
  return {
    name,
    alone,
    run,
    lacking(setup) {
      const reasons = needs.flatMap((feature) => setup.lacks?.[feature] ?? []);
      if (needs.includes("cut") && setup.cut === undefined) reasons.push("there is no connection to cut");
      return reasons[0];
    },
  };
}
