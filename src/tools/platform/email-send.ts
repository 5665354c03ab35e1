import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import { readAttachments } from "../messaging/attachments.js";
import { isAddress, mailEffects, readAddresses, readRecipients } from "../messaging/mail/recipients.js";
import type { SentMail } from "../messaging/mail/send-mail.js";

interface EmailAnswer extends SentMail {
  readonly success: true;
  readonly status: "success";
  readonly subject: string;
  readonly attached?: readonly { readonly path: string; readonly bytes: number }[] | undefined;
  readonly note?: string | undefined;
}

const addresses = { type: ["array", "string"], items: { type: "string" } } as const;

export default defineTool({
  name: "email_send",
  toolset: "email",
  emoji: "📧",
  description:
    "Send an e-mail. rejected lists those the server did not take it for. Files go along only when they are named " +
    "in attachments.",
  parameters: {
    type: "object",
    properties: {
      to: { ...addresses, description: "ada@example.org or Ada <ada@example.org>" },
      subject: { type: "string", maxLength: 900, pattern: "^[^\\r\\n]*$" },
      body: { type: "string", maxLength: 2_000_000 },
      html: { type: "string", maxLength: 2_000_000, description: "The same as HTML" },
      cc: addresses,
      bcc: addresses,
      attachments: { type: "array", items: { type: "string" }, maxItems: 20, description: "Paths" },
      reply_to: { type: "string" },
    },
    required: ["to", "subject", "body"],
    additionalProperties: false,
  },
  permissions: ["message:send", "file:read"],
  everyCallNeeds: ["message:send"],
  needs: {
    anySetting: ["email.smtp_url"],
    fix: "hermes config set email.smtp_url smtp://HOST:587",
  },
  effects: ({ attachments = [], subject, ...fields }, scope) => {
    const read = readRecipients(fields);
    // The handler refuses such a mail before it touches anything.
    if ("problem" in read) return [];
    const files = attachments.map((path) => absolutePath(path, scope));
    return [
      ...mailEffects({ recipients: read.all, subject, attachments: files }),
      ...files.map((resource) => ({ action: "file:read", resource, mode: "read" }) as const),
    ];
  },
  timeoutMs: 180_000,

  async handler({ subject, body, html, attachments = [], reply_to, ...fields }, ctx): Promise<EmailAnswer> {
    const recipients = readRecipients(fields);
    const [replyTo, another] = readAddresses(reply_to);
    const problem =
      "problem" in recipients
        ? recipients.problem
        : another !== undefined || (replyTo !== undefined && !isAddress(replyTo.address))
          ? `${JSON.stringify(reply_to)} in reply_to is not one mail address`
          : undefined;
    if (problem !== undefined || "problem" in recipients) {
      throw new ToolError(`Nothing was sent: ${problem}.`, {
        code: "invalid_arguments",
        hint: "Write addresses like ada@example.org or Ada <ada@example.org>.",
      });
    }
    const attached = await readAttachments(attachments, ctx);
    const { sendMail } = await import("../messaging/mail/send-mail.js");
    const sent = await sendMail(
      { recipients, subject, text: body, html, replyTo, attachments: attached },
      ctx,
    );
    return {
      success: true,
      status: "success",
      ...sent,
      subject,
      ...(attached.length > 0 && {
        attached: attached.map(({ path, content }) => ({ path, bytes: content.length })),
      }),
      ...(sent.rejected.length > 0 && { note: `Not sent to ${sent.rejected.join(", ")}.` }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `📧 ${mark.strong(out.subject)} → ${out.accepted.join(", ")} ${mark.dim(out.message_id)}`,
      ...(out.attached ?? []).map(({ path, bytes }) => `   ${mark.path(path)} ${mark.dim(`${bytes} bytes`)}`),
      ...(out.refusals ?? []).map(({ address, reason }) => mark.bad(`   not to ${address}: ${reason}`)),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Send a report with a file",
      settings: { "email.smtp_url": "{mail}", "email.from": "hermes@example.org" },
      files: { "figures.csv": "month,visits\nMay,120\n" },
      arguments: {
        to: ["Ada <ada@example.org>"],
        subject: "Visits in May",
        body: "Hello Ada,\n\nthe figures are attached.\n",
        attachments: ["figures.csv"],
      },
      result: { success: true, accepted: ["ada@example.org"], rejected: [] },
    },
  ],
});
