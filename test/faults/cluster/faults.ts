import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Faulty } from "../shim/faulty.js";
import { FRONT, type Machines, NATS } from "./machines.js";

/** Of the worker whose clock can be moved. */
export const CLOCKED = "w3";
/** Of the NATS server whose store lies on a small disk. */
export const CRAMPED = "n3";
/** Small, but not full of what three servers keep of large calls for five minutes: one that cannot hold it never catches up. */
const SMALL_DISK_MB = 2_048;

export interface Fault {
  readonly what: string;
  /** Tried in CI as well. */
  readonly quick?: true;
  /** Breaks something, waits, and mends it. */
  run(machines: Machines, tools: { readonly clock: Faulty }): Promise<void>;
}

const cutOff = (machine: string, ms: number) => async (machines: Machines) => {
  machines.network.cut(machine);
  await pause(ms);
  machines.network.heal(machine);
};

async function restartNats(machines: Machines, name: string): Promise<void> {
  await machines.kill(name);
  await pause(4_000);
  await machines.startNats(name);
}

export const FAULTS: readonly Fault[] = [
  {
    what: "worker killed in mid-call and replaced",
    quick: true,
    async run(machines) {
      await machines.kill("w1");
      await pause(1_000);
      await machines.startWorker("w1");
    },
  },
  {
    what: "leading NATS server killed and restarted",
    run: async (machines) => restartNats(machines, await machines.leader()),
  },
  {
    what: "other NATS server killed and restarted",
    async run(machines) {
      const leader = await machines.leader();
      await restartNats(machines, NATS.find((name) => name !== leader) ?? NATS[0]);
    },
  },
  { what: "worker cut off for 8 s", quick: true, run: cutOff("w2", 8_000) },
  { what: "front node cut off for 8 s", run: cutOff(FRONT, 8_000) },
  { what: "NATS server cut off for 10 s", run: cutOff("n1", 10_000) },
  {
    what: "leading NATS server parted from the other two for 12 s, its clients still reach it",
    async run(machines) {
      const leader = await machines.leader();
      const others = NATS.filter((name) => name !== leader);
      for (const other of others) machines.network.part(leader, other);
      await pause(12_000);
      for (const other of others) machines.network.join(leader, other);
    },
  },
  {
    what: "slow link that drops: a worker and the front node",
    async run(machines) {
      for (const machine of ["w1", FRONT]) machines.network.slow(machine, "600kbit");
      await pause(10_000);
      for (const machine of ["w1", FRONT]) machines.network.fast(machine);
    },
  },
  {
    what: "disk of a NATS server full",
    async run(machines) {
      const filler = join(machines.store(CRAMPED), "filler");
      const megabytes = Buffer.alloc(8 * 1024 * 1024);
      try {
        for (let written = 0; written < SMALL_DISK_MB; written += 8) appendFileSync(filler, megabytes);
      } catch {
        // Full, as it should be.
      }
      await pause(8_000);
      rmSync(filler, { force: true });
      // A server that could not write has switched its JetStream off until it is started again.
      await machines.kill(CRAMPED);
      await machines.startNats(CRAMPED);
    },
  },
  {
    what: "clock of a worker 300 s ahead, then 300 s behind",
    async run(machines, { clock }) {
      for (const step of [300, -300, 0]) {
        clock.stepClock(step);
        // New sessions go to whoever has the least to do, which the one with the wrong clock soon has.
        for (let turn = 0; turn < 6; turn += 1) {
          const lane = `clock${step}-${turn}-${Date.now()}`;
          void machines.call({ name: "witness", kind: "write", args: { lane }, lane });
          await pause(step === 0 ? 100 : 1_200);
        }
      }
      const said = [CLOCKED, FRONT].map((name) => machines.running.get(name)?.complaints() ?? "");
      const felt = said.map((text) => text.split("do the clocks of the machines agree?").length - 1);
      if (felt.includes(0))
        throw new Error(`a clock that moved was not noticed: ${felt.join(" and ")} times`);
    },
  },
  {
    what: "worker stopped for 10 s and continued",
    async run(machines) {
      machines.signal("w2", "SIGSTOP");
      await pause(10_000);
      machines.signal("w2", "SIGCONT");
    },
  },
  {
    what: "front node stopped for 8 s and continued",
    async run(machines) {
      machines.signal(FRONT, "SIGSTOP");
      await pause(8_000);
      machines.signal(FRONT, "SIGCONT");
    },
  },
  {
    what: "consumers deleted",
    quick: true,
    async run(machines) {
      await machines.ask("delete consumers");
      await pause(3_000);
    },
  },
  {
    what: "stream deleted",
    async run(machines) {
      await machines.ask("delete stream");
      await pause(5_000);
    },
  },
  {
    what: "rolling restart of all workers",
    async run(machines) {
      for (const name of ["w1", "w2"]) {
        await machines.kill(name, "SIGTERM");
        await machines.startWorker(name);
      }
    },
  },
];

export function mountSmallDisk(folder: string): () => void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SMALL_DISK_MB}m`, "none", folder]);
  return () => execFileSync("umount", ["-l", folder]);
}
