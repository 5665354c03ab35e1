import { afterAll, beforeAll, describe, test } from "vitest";
import {
  type ConformanceContext,
  type ConformanceSetup,
  conformanceContext,
  environmentConformance,
} from "../../src/testing/index.js";

const CASE_MS = 60_000;

export interface ConformanceSubject {
  /** Known before anything is started, so that cases that do not apply are skipped with their reason. */
  readonly traits: Omit<ConformanceSetup, "open" | "leftovers" | "running" | "cut"> & {
    readonly canCut?: boolean;
  };
  /** Starts what the environment needs (a server, a daemon) and says how to use it. */
  start(): Promise<Pick<ConformanceSetup, "open" | "leftovers" | "running" | "cut"> & Stoppable>;
}

interface Stoppable {
  stop?(): Promise<void>;
}

/**
 * The conformance suite against one kind of environment. Where others run the same code nearly all the way, only every
 * so-manyth case, unless `npm run conformance` wants all.
 */
export function describeConformance(
  name: string,
  subject: ConformanceSubject,
  { everyNth = 1 }: { readonly everyNth?: number } = {},
): void {
  const cases = environmentConformance().filter(
    (_, index) => process.env.HERMES_CONFORMANCE === "full" || index % everyNth === 0,
  );
  describe(`conformance of ${name}`, () => {
    let context: ConformanceContext | undefined;
    let started: Stoppable | undefined;
    const { canCut = false, ...traits } = subject.traits;

    beforeAll(async () => {
      const live = await subject.start();
      started = live;
      context = conformanceContext({ ...traits, ...live });
    });
    afterAll(async () => {
      try {
        await context?.close();
      } finally {
        await started?.stop?.();
      }
    });

    for (const each of cases) {
      // Most of a case is waiting, and an environment is used by many at once anyway.
      test(each.name, { timeout: CASE_MS, concurrent: !each.alone }, async (current) => {
        const lacking = each.lacking({
          ...traits,
          open: unused,
          leftovers: unused,
          ...(canCut && { cut: unused }),
        });
        if (lacking !== undefined) current.skip(`[ci-cannot] ${lacking}`);
        if (context !== undefined) await each.run(context);
      });
    }
  });
}

function unused(): never {
  throw new Error("only the traits are looked at here");
}
