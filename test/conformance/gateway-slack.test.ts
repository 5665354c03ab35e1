import { expect, it } from "vitest";
import { SlackGateway } from "../../src/gateway/slack/slack.js";
import { eventually, hubWith } from "../gateway/support.js";
import { APP_TOKEN, BOT_TOKEN, SlackServer } from "../support/platforms/slack-server.js";
import { describeGateway } from "./gateways.js";

function slackAt(server: SlackServer): SlackGateway {
  return new SlackGateway({
    token: BOT_TOKEN,
    appToken: APP_TOKEN,
    apiRoot: server.apiRoot,
    loadWeb: () => import("@slack/web-api"),
    loadSocket: () => import("@slack/socket-mode"),
    lookEveryMs: 50,
    traits: { paceMs: 0 },
  });
}

describeGateway({
  name: "slack",
  preset: "hermes-slack",
  maxChars: 3_000,
  async start() {
    const server = await new SlackServer().listen();
    const asking = () => server.shown.findLast(({ buttons }) => buttons.length > 0);
    return {
      gatewayName: "slack",
      open: () => slackAt(server),
      async deliver({ id, text }) {
        server.say({ text, ...(id !== undefined && { ts: `${id}.000001` }) });
      },
      async stranger(text) {
        server.say({ text, from: "66" });
      },
      async deliverFile({ name, mimeType, bytes, text }) {
        const path = String(server.files.size);
        server.files.set(path, bytes);
        const url_private_download = `${server.url}/files/${path}`;
        server.say({ text, files: [{ url_private_download, name, mimetype: mimeType, size: bytes.length }] });
      },
      sentFiles: () => server.sentFiles,
      buttons: {
        labels: () => (asking() ?? { buttons: [] }).buttons.map(({ text }) => text.text),
        press(label, by) {
          const message = asking();
          if (message !== undefined)
            server.press(message, label, { owner: "42", guest: "43", stranger: "66" }[by]);
        },
      },
      shown: () => server.shown.map(({ text }) => text),
      trouble: (kind) =>
        server.fail(kind === "rate" ? "rate" : "down", { afterwards: kind === "silent_take" }),
    };
  },
});

it("lesson 89: a delivery that Slack calls a retry is taken when it is the first that arrives", async () => {
  const server = await new SlackServer().listen();
  const { asked } = await hubWith({ gateways: [slackAt(server)] });
  server.say({ text: "hello", ts: "1760000500.000001", retry: 2 });
  await eventually(() => expect(server.shown.map(({ text }) => text)).toEqual(["You said: hello"]));
  server.say({ text: "hello", ts: "1760000500.000001", retry: 3 });
  await eventually(() => expect(server.confirmed).toHaveLength(2));
  expect(asked).toHaveLength(1);
});
