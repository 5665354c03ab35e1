import { failure, HermesError } from "../tool/errors.js";
import type { RouteContext } from "./route.js";

/** A number from the query within its bounds; anything else is the caller's mistake. */
export function numberFrom(
  context: RouteContext,
  {
    name,
    fallback,
    min,
    max,
  }: { readonly name: string; readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const text = context.req.query(name);
  if (text === undefined) return fallback;
  const value = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new HermesError(
    failure(
      "bad_request",
      `?${name}= must be a number from ${min} to ${max}`,
      `Leave it out for ${fallback}.`,
    ),
  );
}

/** `?toolsets=a,b`; undefined when the caller leaves the choice to the configuration. */
export function toolsetsFrom(context: RouteContext): readonly string[] | undefined {
  const text = context.req.query("toolsets");
  if (text === undefined) return undefined;
  const names = [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  if (names.length > 0 && names.length <= 100) return names;
  throw new HermesError(
    failure(
      "bad_request",
      "?toolsets= must name 1 to 100 toolsets",
      "Leave it out to get what is configured.",
    ),
  );
}

export const TOOLSETS_PARAMETER = {
  name: "toolsets",
  description: "Comma-separated toolsets or tools to narrow the session to; never more than is configured.",
  schema: { type: "string" },
} as const;
