import { commandError } from "../errors.js";

/** How far to look back. */
export function daysOf(option: unknown): number {
  const days = Number(option ?? 30);
  if (days > 0) return days;
  const message = `--days must be a positive number, not ${JSON.stringify(option)}`;
  throw commandError("bad_request", message, "For example: --days 7");
}
