import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { signBody } from "../../src/base/signed-body.js";
import { WebhookGateway } from "../../src/gateway/webhook/webhook.js";
import { eventually } from "../gateway/support.js";
import { onTestEnd } from "../support/runtime.js";
import { describeGateway } from "./gateways.js";

const SECRET = "a secret of both sides";

describeGateway({
  name: "webhook",
  preset: "hermes-webhook",
  maxChars: 200_000,
  async start() {
    const shown: { readonly id: string; readonly text: string }[] = [];
    const troubles: string[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const trouble = troubles.shift();
      if (trouble === "rate") return void response.writeHead(429, { "retry-after": "0" }).end();
      if (trouble === "down") return void response.writeHead(503).end();
      const said = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { id: string; text: string };
      // A receiver knows parts by their ids.
      if (!shown.some(({ id }) => id === said.id)) shown.push(said);
      if (trouble === "silent_take") return void response.destroy();
      response.writeHead(200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestEnd(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    const open = () =>
      new WebhookGateway({
        name: "build",
        secret: SECRET,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
        rules: () => ({ allowPrivate: false }),
      });
    let gateway = open();
    return {
      gatewayName: "webhook:build",
      open() {
        gateway = open();
        return { gateway, role: () => "guest" as const };
      },
      async deliver({ id = randomUUID(), text }) {
        const body = JSON.stringify({ id, text });
        await eventually(async () => {
          const answer = await gateway.accept({ signature: signBody(body, SECRET), body: Buffer.from(body) });
          if (!answer.taken) throw new Error(answer.message);
        });
      },
      shown: () => shown.map(({ text }) => text),
      trouble: (kind) => void troubles.push(kind),
    };
  },
});
