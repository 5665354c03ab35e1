import type { LoadedConfig } from "../config/types.js";
import { silentLogger } from "../observe/log.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { Bus } from "./bus.js";
import type { Beat, ToWorker, WorkerRecord } from "./messages.js";
import { LOST_MS, recordSubject, workerTable } from "./roster.js";
import { CLOCKS_MS, LIFE_MS } from "./seal.js";

type ClusterSettings = LoadedConfig["values"]["cluster"];

export interface WorkerStatus
  extends Pick<WorkerRecord, "id" | "host" | "version" | "labels" | "toolsets" | "slots"> {
  readonly state: "ready" | "draining" | "lost";
  readonly running: number;
  readonly tools: number;
  /** How far its clock is ahead of this machine's, where that is too much; behind when it is less than 0. */
  readonly clockOffMs?: number | undefined;
}

export interface ClusterStatus {
  readonly connected: boolean;
  readonly workers: readonly WorkerStatus[];
  /** Workers on record whose record is not signed with this machine's secret. */
  readonly strangers: number;
  /** Calls that wait for a worker to take them. */
  readonly queue: number;
  readonly problem?: HermesError | undefined;
}

/** A worker that does not answer the roll call for so long is not there. */
const ROLL_CALL_MS = 1_000;

/** Who is there by asking, and who should be by the records. */
export async function clusterStatus(settings: ClusterSettings): Promise<ClusterStatus> {
  let bus: Bus;
  try {
    bus = await Bus.open(settings, silentLogger);
  } catch (error) {
    if (error instanceof HermesError && error.code === "bad_request") throw error;
    const problem =
      error instanceof HermesError
        ? error
        : new HermesError(failure("unavailable", describeThrown(error).message));
    return { connected: false, workers: [], strangers: 0, queue: 0, problem };
  }
  try {
    const [found, queue] = await Promise.all([workersOf(bus), bus.queue.waiting()]);
    return { connected: true, ...found, queue };
  } finally {
    await bus.close();
  }
}

/** False when nobody of that id is there. */
export async function drainWorker(settings: ClusterSettings, id: string): Promise<boolean> {
  const bus = await Bus.open(settings, silentLogger);
  try {
    const message: ToWorker = { kind: "drain" };
    await bus.request(bus.subject("worker", id), message, LOST_MS);
    return true;
  } catch {
    return false;
  } finally {
    await bus.close();
  }
}

async function workersOf(bus: Bus): Promise<Pick<ClusterStatus, "workers" | "strangers">> {
  const beats = new Map<string, Beat & Pick<WorkerStatus, "clockOffMs">>();
  const listening = bus.listen(bus.subject("beat"), ({ body, lateMs, earlyMs }) => {
    const beat = body as Beat;
    const clockOffMs = lateMs > 0 ? -lateMs - LIFE_MS : earlyMs;
    // One that comes late may have been held up, or is repeated by somebody.
    if (lateMs > 0 && beats.has(beat.id)) return;
    beats.set(beat.id, { ...beat, ...(Math.abs(clockOffMs) > CLOCKS_MS && { clockOffMs }) });
  });
  const { records, strangers } = await readRecords(bus);
  bus.publish(bus.subject("roll"), {});
  const until = performance.now() + ROLL_CALL_MS;
  const isQuiet = () => records.some(({ id }) => !beats.has(id));
  while (isQuiet() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
  listening.unsubscribe();
  const workers = records.map(({ id, host, version, labels, toolsets, slots, tools }): WorkerStatus => {
    const beat = beats.get(id);
    const { clockOffMs = 0, running = 0 } = beat ?? {};
    // What comes too late nobody takes from it.
    const state: WorkerStatus["state"] = beat?.answered === true && clockOffMs >= 0 ? beat.state : "lost";
    const known = { id, host, version, labels, toolsets, slots, state, running };
    return { ...known, tools: Object.keys(tools).length, ...(clockOffMs !== 0 && { clockOffMs }) };
  });
  return { workers, strangers };
}

async function readRecords(bus: Bus): Promise<{ records: readonly WorkerRecord[]; strangers: number }> {
  const table = await workerTable(bus);
  const names: string[] = [];
  for await (const name of await table.keys()) names.push(name);
  const entries = await Promise.all(names.sort().map((name) => table.get(name)));
  let strangers = 0;
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (entry === null || entry.operation !== "PUT") return undefined;
      try {
        return (await bus.open(recordSubject(bus), entry.value)) as WorkerRecord;
      } catch {
        // Whoever wrote it does not belong here, and nobody sends it anything.
        strangers += 1;
        return undefined;
      }
    }),
  );
  return { records: found.filter((record) => record !== undefined), strangers };
}
