import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import type { Channel, Delivery, KnownTarget } from "./channels/channel.js";
import { emailChannel } from "./channels/email.js";
import { webhookChannel } from "./channels/webhook.js";

/** Every way to reach somebody. */
const CHANNELS: readonly Channel[] = [webhookChannel, emailChannel];

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
    "Send a message to somebody: webhook:NAME or email:ADDRESS. action list tells the targets there are; reached " +
    "tells who got it.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["send", "list"], default: "send" },
      target: { type: "string", maxLength: 2_000 },
      message: { type: "string", maxLength: 200_000, description: "Plain text; files are not attached" },
      subject: { type: "string", maxLength: 900, description: "Of an e-mail; else the first line" },
    },
    additionalProperties: false,
  },
  permissions: ["message:send"],
  needs: {
    anySetting: ["webhooks", "email.smtp_url"],
    fix: "hermes config set email.smtp_url smtp://HOST:587",
  },
  effects: ({ action, target = "", message = "", subject }) => {
    const { channel, address } = readTarget(target);
    if (action === "list" || channel === undefined) return [];
    return channel.effects({ address, text: message, subject });
  },
  timeoutMs: 120_000,

  async handler({ action, target = "", message = "", subject }, ctx): Promise<MessageAnswer> {
    const answer = { success: true, status: "success" } as const;
    if (action === "list") return { ...answer, targets: knownTargets(ctx) };
    if (message.trim() === "") {
      throw new ToolError("There is no message.", { code: "invalid_arguments", hint: "Say it in message." });
    }
    const { channel, address } = readTarget(target);
    const delivery = await channel?.send({ address, text: message, subject }, ctx);
    if (delivery === undefined) throw unknownTarget(target, ctx);
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
  const cut = target.indexOf(":");
  const name = target.slice(0, Math.max(cut, 0)).trim().toLowerCase();
  return { channel: CHANNELS.find((one) => one.name === name), address: target.slice(cut + 1).trim() };
}

function knownTargets(ctx: CallContext): readonly KnownTarget[] {
  return CHANNELS.flatMap((channel) => channel.targets(ctx));
}

/** Never sent anywhere else instead: a message for one person is not for another. */
function unknownTarget(target: string, ctx: CallContext): ToolError {
  const known = knownTargets(ctx).map((one) => one.target);
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
