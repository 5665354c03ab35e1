import { telegramAt } from "../gateway/support.js";
import { TelegramServer } from "../support/platforms/telegram-server.js";
import { describeGateway } from "./gateways.js";

describeGateway({
  name: "telegram",
  preset: "hermes-telegram",
  maxChars: 4_096,
  async start() {
    const server = await new TelegramServer().listen();
    const asking = () => server.shown.findLast(({ buttons }) => buttons.length > 0);
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
      async deliverFile({ name, mimeType, bytes, text }) {
        const id = `file${server.files.size}`;
        server.files.set(id, bytes);
        const about = { file_id: id, file_size: bytes.length };
        const isPicture = mimeType.startsWith("image/");
        const more = isPicture
          ? { photo: [{ ...about, width: 1, height: 1 }] }
          : { document: { ...about, file_name: name, mime_type: mimeType } };
        server.say({ more: { caption: text, ...more } });
      },
      sentFiles: () => server.sentFiles,
      buttons: {
        labels: () => (asking() ?? { buttons: [] }).buttons.map(({ text }) => text),
        press(label, by) {
          const message = asking();
          if (message !== undefined) server.press(message, label, { owner: 42, guest: 43, stranger: 66 }[by]);
        },
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
