import type { PoolClient } from "../runtime/session-pool.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Authenticator } from "./auth.js";
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

export const SESSION_HEADER = "x-hermes-session";
export const SESSION_NAME = /^[\w.:-]{1,128}$/;
export const SESSION_NAME_RULE = "X-Hermes-Session must be 1 to 128 letters, digits or . _ : -";

/** Whose request it is, and which session it goes on in. */
export function clientFrom(context: RouteContext, auth: Authenticator): PoolClient {
  const { headers } = context.env.incoming;
  const name = headers[SESSION_HEADER];
  if (name !== undefined && (typeof name !== "string" || !SESSION_NAME.test(name))) {
    throw new HermesError(
      failure(
        "bad_request",
        SESSION_NAME_RULE,
        "Choose one name for each conversation, or leave it out for a session of this request alone.",
      ),
    );
  }
  return { principal: auth.principalOf(headers), name, toolsets: toolsetsFrom(context) };
}

export const SESSION_PARAMETER = {
  in: "header",
  name: "X-Hermes-Session",
  description:
    "A name of the client's own choosing: requests with the same name and token share a session with its folder, " +
    "variables and background programs. Left out, the request has a session of its own.",
  schema: { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,128}$" },
} as const;

export const TOOLSETS_PARAMETER = {
  name: "toolsets",
  description: "Comma-separated toolsets or tools to narrow the session to; never more than is configured.",
  schema: { type: "string" },
} as const;
