// @needs nats-server
import { callLaws } from "../laws/laws-of-calls.js";
import { reloadLaws } from "../laws/laws-of-reloading.js";
import { resultLaws } from "../laws/laws-of-results.js";
import { testCluster, useNats } from "./support.js";

useNats();

/** A runtime whose handlers run on a worker. */
const clusterRuntime: Parameters<typeof callLaws>[0] = async (tools = [], options = {}) =>
  (await testCluster(tools, { runtime: options })).front;

callLaws(clusterRuntime, { elsewhere: true });
resultLaws(clusterRuntime);
reloadLaws(
  async (tools = []) => {
    // A worker tells every second what it has.
    const { front, place, workers } = await testCluster(tools, { front: { "cluster.wait_seconds": 2 } });
    return {
      runtime: front.runtime,
      registries: [front.registry, ...workers.map(({ at }) => at.registry)],
      knows: async (tool) => {
        while (!place.roster.serves(tool)) await place.roster.changed(1_000);
      },
    };
  },
  { elsewhere: true, numRuns: 20 },
);
