import { expect } from "vitest";
import { DiscordGateway } from "../../src/gateway/discord/discord.js";
import { DISCORD_TOKEN, DiscordServer } from "../support/platforms/discord-server.js";
import { eventually } from "../gateway/support.js";
import { describeGateway } from "./gateways.js";

describeGateway({
  name: "discord",
  preset: "hermes-discord",
  maxChars: 2_000,
  async start() {
    const server = await new DiscordServer().listen();
    const connected = () => eventually(() => expect(server.isConnected).toBe(true));
    return {
      gatewayName: "discord",
      open: () =>
        new DiscordGateway({
          token: DISCORD_TOKEN,
          apiRoot: server.apiRoot,
          load: () => import("discord.js"),
          lookEveryMs: 50,
          traits: { paceMs: 0 },
        }),
      async deliver({ id, text }) {
        await connected();
        server.say({ text, ...(id !== undefined && { id }) });
      },
      async stranger(text) {
        await connected();
        server.say({ text, from: "66", name: "Mallory" });
      },
      shown: () => server.shown.map(({ text }) => text),
      trouble(kind) {
        server.fail(kind === "rate" ? 429 : 503, { afterwards: kind === "silent_take" });
      },
    };
  },
});
