import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { absolutePath } from "../files/paths.js";
import { readAttachments } from "./attachments.js";
import type { Channel, Delivery, KnownTarget } from "./channels/channel.js";
import { emailChannel } from "./channels/email.js";
import { gatewayChannel } from "./channels/gateway.js";
import { webhookChannel } from "./channels/webhook.js";

/** Every way to reach somebody. */
const CHANNELS: readonly Channel[] = [
  webhookChannel,
  emailChannel,
  ...["telegram", "discord", "slack", "here"].map(gatewayChannel),
];

interface MessageAnswer extends Partial<Delivery> {
  readonly success: true;
  readonly status: "success";
  readonly target?: string | undefined;
  readonly targets?: readonly KnownTarget[] | undefined;
}

export default defineTool({
  name: "send_message",
  toolset: "messaging",
  emoji: "✉️",
  description:
    "Send a message to somebody: telegram:CHAT, discord:CHAT, slack:CHAT, email:ADDRESS, webhook:NAME, or here (the " +
    "chat you are in). action list tells the targets there are; reached tells who got it.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["send", "list"], default: "send" },
      target: { type: "string", maxLength: 2_000 },
      message: { type: "string", maxLength: 200_000, description: "Markdown in chats, else plain text" },
      files: {
        type: "array",
        items: { type: "string" },
        maxItems: 10,
        description: "Paths; sent after the text",
      },
      subject: { type: "string", maxLength: 900, description: "Of an e-mail; else the first line" },
    },
    additionalProperties: false,
  },
  stays: true,
  permissions: ["message:send", "file:read"],
  everyCallNeeds: ["message:send"],
  needs: {
    anySetting: [
      "webhooks",
      "email.smtp_url",
      "gateways.telegram.token",
      "gateways.discord.token",
      "gateways.slack.token",
      "gateways.email.imap_url",
    ],
    fix: "hermes config set email.smtp_url smtp://HOST:587",
  },
  effects: ({ action, target = "", message = "", subject, files: named = [] }, scope) => {
    const { channel, address } = readTarget(target);
    if (action === "list" || channel === undefined) return [];
    const files = named.map((path) => absolutePath(path, scope));
    return [
      ...channel.effects({ address, text: message, subject, files }),
      ...files.map((resource) => ({ action: "file:read", resource, mode: "read" }) as const),
    ];
  },
  timeoutMs: 120_000,

  async handler({ action, target = "", message = "", subject, files = [] }, ctx): Promise<MessageAnswer> {
    const answer = { success: true, status: "success" } as const;
    if (action === "list") return { ...answer, targets: await knownTargets(ctx) };
    if (message.trim() === "" && files.length === 0) {
      throw new ToolError("There is no message.", { code: "invalid_arguments", hint: "Say it in message." });
    }
    const { channel, address } = readTarget(target);
    const attachments = channel === undefined ? [] : await readAttachments(files, ctx);
    const delivery = await channel?.send({ address, text: message, subject, attachments }, ctx);
    if (delivery === undefined) throw await unknownTarget(target, ctx);
    return { ...answer, target, ...delivery };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human:
      out.targets === undefined
        ? [
            `✉️ ${(out.reached ?? []).map(mark.strong).join(", ")} ${mark.dim(out.receipt ?? "")}`,
            ...(out.note === undefined ? [] : [mark.warning(out.note)]),
          ].join("\n")
        : columns(out.targets.map(({ target, about }) => [mark.strong(target), about])),
  }),

  examples: [
    {
      title: "Tell a webhook of the configuration that something is done",
      pages: { "/hooks/build": "thanks" },
      settings: { webhooks: { build: { url: "{server}/hooks/build", secret: "a-shared-secret" } } },
      arguments: { target: "webhook:build", message: "All 214 tests passed." },
      result: { success: true, target: "webhook:build", receipt: "HTTP 200" },
    },
    {
      title: "Who can be reached",
      settings: { "email.smtp_url": "{mail}", "email.from": "hermes@example.org" },
      arguments: { action: "list" },
      result: { targets: [{ target: "email:ADDRESS" }] },
    },
  ],
});

function readTarget(target: string): { readonly channel: Channel | undefined; readonly address: string } {
  const [name = "", ...rest] = target.split(":");
  const channel = CHANNELS.find((one) => one.name === name.trim().toLowerCase());
  return { channel, address: rest.join(":").trim() };
}

async function knownTargets(ctx: CallContext): Promise<readonly KnownTarget[]> {
  return (await Promise.all(CHANNELS.map((channel) => channel.targets(ctx)))).flat();
}

/** Never sent anywhere else instead: a message for one person is not for another. */
async function unknownTarget(target: string, ctx: CallContext): Promise<ToolError> {
  const known = (await knownTargets(ctx)).map((one) => one.target);
  return new ToolError(
    target.trim() === ""
      ? "There is no target, so nothing was sent."
      : `There is no target ${JSON.stringify(target)}, so nothing was sent.`,
    {
      code: "invalid_arguments",
      hint: `Targets: ${known.join(", ") || "none is configured"}.`,
      details: { targets: known },
    },
  );
}
