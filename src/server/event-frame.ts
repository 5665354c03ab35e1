import type { RuntimeEvent } from "../observe/events.js";

const MAX_STRING_CHARS = 2_000;
const MAX_EVENT_CHARS = 16_384;

/** One event as JSON: secrets masked, and small whatever a tool reports as its progress. */
export function eventJson(event: RuntimeEvent, redact: (text: string) => string): string {
  const shorten = (_key: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    // Cut before the search, with enough around the cut that no secret shows in half.
    const text = redact(value.slice(0, MAX_STRING_CHARS * 4));
    return text.length > MAX_STRING_CHARS ? `${text.slice(0, MAX_STRING_CHARS)}…` : text;
  };
  try {
    const text = JSON.stringify(event, shorten);
    if (text.length <= MAX_EVENT_CHARS) return text;
  } catch {
    // Progress of a tool need not be JSON; the event itself still happened.
  }
  return JSON.stringify({ ...event, progress: { omitted: true }, tools: [] }, shorten);
}

/** JSON has no raw line breaks, so one `data:` line always holds it. */
export function frameOf(id: string, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`;
}

/** Sent when events between the client's last one and now are lost: what it shows must be read anew. */
export const RESET_FRAME = `data: ${JSON.stringify({ type: "stream.reset" })}\n\n`;
export const HEARTBEAT_FRAME = ": still here\n\n";
export const OPENING_FRAME = "retry: 2000\n\n";
