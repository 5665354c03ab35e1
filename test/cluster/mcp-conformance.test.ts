// @needs nats-server
import { describe, expect, it } from "vitest";
import { createServer } from "../../src/server/server.js";
import { fixtureTools } from "../conformance/mcp-server/fixture-tools.js";
import { lacking, passesThePublicSuite } from "../conformance/mcp-server/suite.js";
import { TOKEN } from "../server/support.js";
import { onTestEnd } from "../support/runtime.js";
import { testCluster, useNats } from "./support.js";

useNats();

describe.skipIf(lacking !== undefined)(
  `the public MCP conformance suite, calls on a worker${lacking === undefined ? "" : ` (${lacking})`}`,
  () => {
    it("passes as without a cluster, and every call that began ran on the worker", async () => {
      const { front, workers } = await testCluster(fixtureTools);
      await passesThePublicSuite(async (allowedHost) => {
        const server = await createServer({
          runtime: front.runtime,
          token: { value: TOKEN, source: "configured" },
          host: "127.0.0.1",
          port: 0,
          allowedHosts: [allowedHost],
        });
        onTestEnd(() => server.close({ finishMs: 0, abortMs: 1_000 }));
        return server.port;
      });
      const rows = await (await front.runtime.journal()).recent({ limit: 1_000 });
      const ran = rows.filter(({ tool }) => fixtureTools.some(({ name }) => name === tool));
      expect(ran.length).toBeGreaterThan(8);
      expect(new Set(ran.map(({ worker }) => worker))).toEqual(new Set([workers[0]?.worker.id]));
    });
  },
);
