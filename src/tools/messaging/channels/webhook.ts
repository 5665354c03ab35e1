import { randomUUID } from "node:crypto";
import { isRecord } from "../../../base/record.js";
import { signBody } from "../../../base/signed-body.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { Channel } from "./channel.js";

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;

interface Webhook {
  readonly url: URL;
  readonly secret: string;
}

/**
 * To an address of the configuration: `POST {"id", "text"}`, signed with the secret they share. Nobody is asked: the
 * operator has named who gets these messages. The address may hold a key of the other side and is never shown.
 */
export const webhookChannel: Channel = {
  name: "webhook",

  effects: ({ address }) => [
    { action: "message:send", resource: `webhook:${address}`, mode: "write", reversible: false },
  ],

  targets: (ctx) =>
    Object.keys(isRecord(ctx.settings.webhooks) ? ctx.settings.webhooks : {}).flatMap((name) => {
      const webhook = webhookOf(name, ctx);
      return webhook === undefined ? [] : [{ target: `webhook:${name}`, about: webhook.url.host }];
    }),

  async send({ address: name, text, attachments = [] }, ctx) {
    const webhook = webhookOf(name, ctx);
    if (webhook === undefined) return undefined;
    if (attachments.length > 0) {
      throw new ToolError(`Nothing was sent: webhook:${name} carries no files.`, {
        code: "invalid_arguments",
        hint: "Say where the file can be fetched.",
      });
    }
    const { url, secret } = webhook;
    ctx.secrets.add(`webhooks.${name}.url`, url.href);
    const id = randomUUID();
    const body = JSON.stringify({ id, text });
    const response = await ctx.fetch({
      url: url.href,
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(secret !== "" && { "x-hermes-signature": signBody(body, secret) }),
      },
      body,
      configured: true,
      // Signed for this receiver, not for whoever it would send us to.
      followRedirects: false,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      overflow: "cut",
      hints: { timeout: "It may have arrived all the same: ask there before sending it again." },
    });
    await response.close();
    if (!response.ok) {
      throw new ToolError(
        `webhook:${name} (${url.host}) did not take the message: it answered ${response.status}.`,
        { hint: hintFor(response.status, name), details: { http_status: response.status } },
      );
    }
    return {
      reached: [`webhook:${name} (${url.host})`],
      message_id: id,
      receipt: `HTTP ${response.status}`,
    };
  },
};

/** Undefined when there is none of that name, or one that only receives. */
function webhookOf(name: string, { settings }: CallContext): Webhook | undefined {
  const all = isRecord(settings.webhooks) ? settings.webhooks : {};
  const written = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!isRecord(written) || typeof written.url !== "string" || !URL.canParse(written.url)) return undefined;
  return { url: new URL(written.url), secret: typeof written.secret === "string" ? written.secret : "" };
}

function hintFor(status: number, name: string): string {
  if (status === 401 || status === 403) return `The receiver refused it: compare webhooks.${name}.secret.`;
  if (status >= 300 && status < 400) return `It has moved: put the new address into webhooks.${name}.url.`;
  return status === 404 || status === 410
    ? `Nothing is there any more: check webhooks.${name}.url.`
    : "Try again later.";
}
