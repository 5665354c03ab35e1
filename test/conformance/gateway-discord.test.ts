import { expect } from "vitest";
import { DiscordGateway } from "../../src/gateway/discord/discord.js";
import { eventually } from "../gateway/support.js";
import { DISCORD_TOKEN, DiscordServer } from "../support/platforms/discord-server.js";
import { describeGateway } from "./gateways.js";

describeGateway({
  name: "discord",
  preset: "hermes-discord",
  maxChars: 2_000,
  async start() {
    const server = await new DiscordServer().listen();
    const connected = () => eventually(() => expect(server.isConnected).toBe(true));
    const asking = () => server.shown.findLast(({ buttons }) => buttons.length > 0);
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
      async deliverFile({ name, mimeType, bytes, text }) {
        await connected();
        const path = String(server.files.size);
        server.files.set(path, bytes);
        const about = { id: path, url: `${server.url}/cdn/${path}`, proxy_url: "", filename: name };
        server.say({ text, attachments: [{ ...about, content_type: mimeType, size: bytes.length }] });
      },
      sentFiles: () => server.sentFiles,
      buttons: {
        labels: () => (asking() ?? { buttons: [] }).buttons.map(({ label }) => label),
        press(label, by) {
          const message = asking();
          if (message !== undefined)
            server.press(message, label, { owner: "42", guest: "43", stranger: "66" }[by]);
        },
      },
      shown: () => server.shown.map(({ text }) => text),
      trouble(kind) {
        server.fail(kind === "rate" ? 429 : 503, { afterwards: kind === "silent_take" });
      },
    };
  },
});
