// @needs nats-server
import { callLaws } from "../laws/laws-of-calls.js";
import { resultLaws } from "../laws/laws-of-results.js";
import { testCluster, useNats } from "./support.js";

useNats();

/** A runtime whose handlers run on a worker. */
const clusterRuntime: Parameters<typeof callLaws>[0] = async (tools = [], options = {}) =>
  (await testCluster(tools, { runtime: options })).front;

callLaws(clusterRuntime, { elsewhere: true });
resultLaws(clusterRuntime);
