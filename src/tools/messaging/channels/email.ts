import { ToolError } from "../../../tool/errors.js";
import { mailEffects, readRecipients } from "../mail/recipients.js";
import { hasMailServer, senderOf, sendMail } from "../mail/send-mail.js";
import type { Channel, OutgoingMessage } from "./channel.js";

const LONGEST_SUBJECT = 100;

/** To one or several mail addresses, through the operator's mail server. */
export const emailChannel: Channel = {
  name: "email",

  effects(message) {
    const recipients = readRecipients({ to: message.address });
    if ("problem" in recipients) return [];
    const { files = [] } = message;
    return mailEffects({ recipients: recipients.all, subject: subjectOf(message), attachments: files });
  },

  targets({ settings }) {
    if (!hasMailServer(settings)) return [];
    return [{ target: "email:ADDRESS", about: `any mail address; sent from ${senderOf(settings).address}` }];
  },

  async send(message, ctx) {
    if (!hasMailServer(ctx.settings)) return undefined;
    const recipients = readRecipients({ to: message.address });
    if ("problem" in recipients) {
      throw new ToolError(`Nothing was sent: ${recipients.problem}.`, {
        code: "invalid_arguments",
        hint: "Write the target like email:ada@example.org.",
      });
    }
    const { text, attachments } = message;
    const sent = await sendMail({ recipients, subject: subjectOf(message), text, attachments }, ctx);
    const { accepted, rejected, message_id, receipt } = sent;
    return {
      reached: accepted,
      message_id,
      receipt,
      ...(rejected.length > 0 && { note: `Not sent to ${rejected.join(", ")}.` }),
    };
  },
};

/** A message has no subject of its own: its first line is what people look for in a list. */
function subjectOf({ subject, text }: OutgoingMessage): string {
  const line = (subject ?? text.trimStart().split(/[\r\n]/, 1)[0] ?? "").replace(/[\r\n]+/g, " ").trim();
  return line.length > LONGEST_SUBJECT ? `${line.slice(0, LONGEST_SUBJECT - 1)}…` : line;
}
