import { describe, expect, it } from "vitest";
import type { ContainerRow } from "../../src/env/docker/labels.js";
import { thisOwner } from "../../src/env/docker/labels.js";
import { reapContainers } from "../../src/env/docker/reaper.js";
import type { TestEngine } from "../support/docker-engine.js";
import { containerOf, containers, deadPid, open, run } from "./support.js";

/** Containers that outlive the process they belong to. */
export function describeReuse(engine: () => TestEngine): void {
  /** As if the process that owns it had been killed. */
  async function orphan(id: string): Promise<void> {
    const { started } = await thisOwner();
    const name = `hermes-orphan-${id.slice(0, 8)}.${deadPid()}.${started}`;
    await engine().api.send({ method: "POST", path: `/containers/${id}/rename`, query: { name } });
  }

  describe("a container whose process died", () => {
    it("is used again by the same task with the same configuration, with its files and without its processes", async () => {
      const first = await open(engine(), { task: "crash" });
      await run(first, "echo kept >/root/file; (sleep 77 >/dev/null 2>&1 &)");
      const id = await containerOf(first);
      const alongside = await open(engine(), { task: "crash" });
      expect(await containerOf(alongside), "not shared while its process lives").not.toBe(id);
      await orphan(id);
      const other = await open(engine(), { task: "crash", memoryMb: 128 });
      expect(await containerOf(other)).not.toBe(id);
      const second = await open(engine(), { task: "crash" });
      expect(await containerOf(second)).toBe(id);
      const seen = await run(second, "cat /root/file; ps | grep -c '[s]leep 77'");
      expect(seen.output).toBe("kept\n0\n");
    });
  });

  describe("the reaper", () => {
    it("removes what dead processes left when it has ended or is too old, and nothing else", async () => {
      const me = await thisOwner();
      const dead = { ...me, pid: deadPid() };
      const label = (owner: typeof me, lifetime = "300") => ({
        "hermes-agent": "1",
        "hermes-task-id": "reaped",
        "hermes-pid": String(owner.pid),
        "hermes-owner-started": owner.started,
        "hermes-owner-host": owner.host,
        "hermes-lifetime-seconds": lifetime,
      });
      const made = {
        endedOfDead: await make(label(dead), "stopped"),
        youngOfDead: await make(label(dead), "running"),
        oldOfDead: await make(label(dead, "0.1"), "running"),
        // The same number, given to another process since.
        endedOfReused: await make(label({ ...me, started: "00000000.1" }), "stopped"),
        endedOfLiving: await make(label(me), "stopped"),
        endedElsewhere: await make(label({ ...dead, host: "another" }), "stopped"),
        foreign: await make({ "hermes-task-id": "not ours" }, "stopped"),
      };
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      const reaped = await reapContainers({ host: `unix://${engine().socket}` });
      const left = new Set((await containers(engine())).map((row: ContainerRow) => row.Id));
      const gone = Object.entries(made)
        .filter(([, id]) => !left.has(id))
        .map(([name]) => name);
      expect(gone).toEqual(["endedOfDead", "oldOfDead", "endedOfReused"]);
      expect(reaped.map((each) => each.id).sort()).toEqual(
        [made.endedOfDead, made.oldOfDead, made.endedOfReused].sort(),
      );
      for (const id of Object.values(made))
        await engine()
          .api.send({ method: "DELETE", path: `/containers/${id}`, query: { force: true } })
          .catch(() => {});
    });
  });

  async function make(labels: Record<string, string>, state: "running" | "stopped"): Promise<string> {
    const { Id } = await engine().api.json<{ Id: string }>({
      method: "POST",
      path: "/containers/create",
      body: {
        Image: engine().shImage,
        Entrypoint: ["sleep", "60"],
        Labels: labels,
        HostConfig: { NetworkMode: "none" },
      },
    });
    if (state === "running") await engine().api.send({ method: "POST", path: `/containers/${Id}/start` });
    return Id;
  }
}
