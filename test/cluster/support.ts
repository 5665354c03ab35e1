import { afterAll, beforeAll } from "vitest";
import { ClusterPlace } from "../../src/cluster/place.js";
import { Worker } from "../../src/cluster/worker.js";
import type { RuntimeOptions } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { type NatsServer, startNats } from "../support/nats-server.js";
import { onTestEnd, type TestRuntime, testRuntime } from "../support/runtime.js";

export const KEY = "a secret that the machines of the test share";

let nats: NatsServer | undefined;
let count = 0;

/** One NATS server for the tests of a file; each test has a cluster of its own on it. */
export function useNats(): void {
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(async () => nats?.stop());
}

export function natsUrl(): string {
  if (nats === undefined) throw new Error("useNats() comes first");
  return nats.url;
}

export function settings(name: string, more: Readonly<Record<string, unknown>> = {}) {
  return { "cluster.url": natsUrl(), "cluster.key": KEY, "cluster.name": name, ...more };
}

export interface TestCluster {
  readonly name: string;
  readonly front: TestRuntime;
  readonly place: ClusterPlace;
  readonly workers: readonly { readonly worker: Worker; readonly at: TestRuntime }[];
}

/** Machines in one process: each with a runtime, a home and a connection of its own. */
export async function testCluster(
  tools: readonly AnyTool[],
  options: {
    /** Labels of each worker; one without labels when left out. */
    readonly workers?: readonly (readonly string[])[];
    readonly builtins?: boolean;
    readonly front?: Readonly<Record<string, unknown>>;
    readonly worker?: Readonly<Record<string, unknown>>;
    readonly frontTools?: readonly AnyTool[];
    /** Of the machine where sessions live. */
    readonly runtime?: Partial<RuntimeOptions>;
  } = {},
): Promise<TestCluster> {
  count += 1;
  const name = `t${process.pid}_${count}`;
  const { builtins = false, workers: labels = [[]] } = options;
  const workers = await Promise.all(
    labels.map(async (own) => {
      const flags = {
        ...settings(name, { "cluster.labels": own, "cluster.drain_seconds": 0 }),
        ...options.worker,
      };
      const at = await testRuntime(tools, { builtins, journal: true, flags });
      const worker = await Worker.start(at.runtime);
      onTestEnd(() => worker.drain());
      return { worker, at };
    }),
  );
  const { front, place } = await joinCluster(name, options.frontTools ?? tools, {
    builtins,
    flags: options.front,
    runtime: options.runtime,
  });
  // On a busy machine the first look may be over before all have answered.
  while (place.roster.ready.length < workers.length) await place.roster.changed(1_000);
  return { name, front, place, workers };
}

/** One more machine where sessions live. */
export async function joinCluster(
  name: string,
  tools: readonly AnyTool[],
  options: {
    readonly builtins?: boolean;
    readonly flags?: Readonly<Record<string, unknown>> | undefined;
    readonly runtime?: Partial<RuntimeOptions> | undefined;
  } = {},
): Promise<Pick<TestCluster, "front" | "place">> {
  const { builtins = false } = options;
  const flags = { ...settings(name, { "cluster.wait_seconds": 1 }), ...options.flags };
  const front = await testRuntime(tools, { builtins, journal: true, flags, ...options.runtime });
  return { front, place: await ClusterPlace.join(front.runtime) };
}
