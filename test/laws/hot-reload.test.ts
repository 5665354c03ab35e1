import { testRuntime } from "../support/runtime.js";
import { reloadLaws } from "./laws-of-reloading.js";

reloadLaws(
  async (tools = []) => {
    const { runtime, registry } = await testRuntime(tools);
    return { runtime, registries: [registry] };
  },
  { elsewhere: false, numRuns: 60 },
);
