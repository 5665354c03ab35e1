import { describe, it } from "vitest";
import { startServer } from "../server/support.js";
import { fixtureTools } from "./mcp-server/fixture-tools.js";
import { lacking, passesThePublicSuite } from "./mcp-server/suite.js";

describe.skipIf(lacking !== undefined)(
  `the public MCP conformance suite${lacking === undefined ? "" : ` (${lacking})`}`,
  () => {
    it("passes every scenario but those about what this server does not offer", async () => {
      await passesThePublicSuite(async (allowedHost) => {
        const { port } = await startServer(fixtureTools, { allowedHosts: [allowedHost] });
        return port;
      });
    });
  },
);
