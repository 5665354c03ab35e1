import { telegramAt } from "../gateway/support.js";
import { TelegramServer } from "../support/platforms/telegram-server.js";
import { describeGateway } from "./gateways.js";

describeGateway({
  name: "telegram",
  preset: "hermes-telegram",
  maxChars: 4_096,
  async start() {
    const server = await new TelegramServer().listen();
    return {
      gatewayName: "telegram",
      open: () => telegramAt(server),
      async deliver({ id, text, sentAt }) {
        server.say({
          text,
          ...(id !== undefined && { update: Number(id) }),
          ...(sentAt !== undefined && { at: sentAt }),
        });
      },
      async stranger(text) {
        server.say({ text, from: 66, name: "Mallory" });
      },
      shown: () => server.shown.map(({ text }) => text),
      trouble(kind) {
        server.fail({
          method: "sendMessage",
          status: kind === "rate" ? 429 : 502,
          description: kind === "rate" ? "Too Many Requests: retry after 1" : "Bad Gateway",
          ...(kind === "rate" && { retryAfter: 0 }),
          ...(kind === "silent_take" && { afterwards: true }),
        });
      },
    };
  },
});
