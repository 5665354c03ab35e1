import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../src/env/environment.js";
import { createLocalEnvironment, type LocalEnvironmentOptions } from "../../src/env/local/local.js";
import { runningWith } from "../sandbox/support.js";
import type { ConformanceSubject } from "./environment.js";

const RUN = "CONFORMANCE_RUN";
const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-conformance-")));

/** This machine, in one of its ways to start programs. Everything it starts is found again by a variable. */
export function localSubject(
  options: (places: { readonly workspace: string }) => LocalEnvironmentOptions,
  traits: Partial<ConformanceSubject["traits"]> = {},
): ConformanceSubject {
  const place = join(base, "place");
  return {
    traits: { place, ...traits },
    async start() {
      mkdirSync(place, { recursive: true });
      const stateDir = join(base, "state");
      mkdirSync(stateDir, { recursive: true });
      const run = randomUUID();
      process.env[RUN] = run;
      return {
        async open({ passthrough = [] } = {}): Promise<Environment> {
          return createLocalEnvironment({
            stateDir,
            passthrough: [RUN, ...passthrough],
            ...options({ workspace: place }),
          });
        },
        async leftovers() {
          const processes = [...runningWith(RUN, run), ...zombiesOf(process.pid)];
          return [...processes.map((pid) => `process ${pid}`), ...readdirSync(stateDir)].sort();
        },
        running: async (variable, value) => runningWith(variable, value),
        async stop() {
          delete process.env[RUN];
          rmSync(base, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Children that have ended and that nobody has collected. */
function zombiesOf(parent: number): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, state, ppid] =
        /^\d+ \(.*\) (.) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
      return state === "Z" && Number(ppid) === parent;
    } catch {
      return false;
    }
  });
}
