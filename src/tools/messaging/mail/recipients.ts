import addressparser from "nodemailer/lib/addressparser";
import type { Effect } from "../../../tool/effects.js";

/** A mail goes to so many at most: what is meant for more belongs to a mailing list. */
const MAX_RECIPIENTS = 50;

export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

export interface Recipients {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly bcc: readonly MailAddress[];
  /** Every address once. */
  readonly all: readonly string[];
}

type Written = string | readonly string[] | undefined;

/**
 * Who a mail goes to, or why it can go nowhere. Effects and handlers both ask here, so that a mail goes to those it was
 * said to go to, and to nobody else.
 */
export function readRecipients(fields: {
  readonly to: Written;
  readonly cc?: Written;
  readonly bcc?: Written;
}): Recipients | { readonly problem: string } {
  const [to, cc, bcc] = [readAddresses(fields.to), readAddresses(fields.cc), readAddresses(fields.bcc)];
  const everybody = [...to, ...cc, ...bcc];
  const wrong = everybody.find(({ address }) => !isAddress(address));
  if (wrong !== undefined)
    return { problem: `${JSON.stringify(wrong.address || wrong.name)} is no mail address` };
  if (to.length === 0) return { problem: "there is nobody in to" };
  const all = [...new Map(everybody.map(({ address }) => [address.toLowerCase(), address])).values()];
  if (all.length > MAX_RECIPIENTS)
    return { problem: `${all.length} recipients are more than ${MAX_RECIPIENTS}` };
  return { to, cc, bcc, all };
}

export function readAddresses(written: Written): readonly MailAddress[] {
  const texts = typeof written === "string" ? listIn(written) : (written ?? []);
  return texts.flatMap((text) => addressparser(text, { flatten: true }));
}

/** Models write lists as texts at times; no address begins with a bracket. */
function listIn(text: string): readonly string[] {
  if (!text.trimStart().startsWith("[")) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : [text];
  } catch {
    return [text];
  }
}

/** Stricter than the standard: no quoted names before the @, nothing that a mail server could read as two addresses. */
export function isAddress(text: string): boolean {
  return /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u.test(text);
}

/**
 * Sending to each of them. A person is asked unless a rule names `message:send`; a yes for the session covers words to
 * these people, files are asked about each time.
 */
export function mailEffects(mail: {
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly attachments?: readonly string[];
}): readonly Effect[] {
  const { recipients, subject, attachments = [] } = mail;
  const files = attachments.length === 0 ? "" : ` with ${attachments.join(", ")}`;
  const reason = `would send the e-mail ${JSON.stringify(subject)} to ${recipients.join(", ")}${files}`;
  return recipients.map((address) => ({
    action: "message:send",
    resource: `email:${address}`,
    mode: "write",
    reversible: false,
    ask: { reason, unlessNamed: true, ...(attachments.length === 0 && { key: `email:${address}` }) },
  }));
}
