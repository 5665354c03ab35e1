import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext, Needs } from "../../tool/tool.js";

const VENDOR = "https://api.honcho.dev";
const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
const MAX_REASON_CHARS = 300;

/** A key for the vendor's server, or a server of one's own, which may need none. */
export const HONCHO_NEEDS: Needs = {
  anyOf: [{ anyEnv: ["HONCHO_API_KEY"] }, { anySetting: ["honcho.url"] }],
  fix: "HONCHO_API_KEY=...",
};

export interface HonchoPlace {
  /** Without a slash at its end. */
  readonly url: string;
  readonly workspace: string;
  /** The person, as Honcho knows them. */
  readonly peer: string;
}

export function honchoPlace({ settings }: CallContext): HonchoPlace {
  const section = isRecord(settings.honcho) ? settings.honcho : {};
  const text = (value: unknown, otherwise: string) =>
    typeof value === "string" && value.trim() !== "" ? value.trim() : otherwise;
  return {
    url: text(section.url, VENDOR).replace(/\/+$/, ""),
    workspace: text(section.workspace, "hermes"),
    peer: text(section.peer, "user"),
  };
}

export interface HonchoRequest {
  /** Below the workspace: `/peers/user/card`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** The peer's own path, its name made safe. */
export function peerPath(ctx: CallContext, rest: string): string {
  return `/peers/${encodeURIComponent(honchoPlace(ctx).peer)}${rest}`;
}

/**
 * One request to Honcho's REST API (docs.honcho.dev/v3/api-reference). Workspace and peer are made when the first
 * request finds that they are not there yet.
 */
export async function askHoncho(ctx: CallContext, request: HonchoRequest): Promise<unknown> {
  const first = await send(ctx, request);
  if (first.status !== 404) return answerOf(first);
  const { peer } = honchoPlace(ctx);
  answerOf(await send(ctx, { path: "", body: { id: honchoPlace(ctx).workspace } }, { root: true }));
  answerOf(await send(ctx, { path: "/peers", body: { id: peer } }));
  return answerOf(await send(ctx, request));
}

interface Answer {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

async function send(
  ctx: CallContext,
  { path, query = {}, body, timeoutMs = 30_000 }: HonchoRequest,
  { root = false }: { readonly root?: boolean } = {},
): Promise<Answer> {
  const place = honchoPlace(ctx);
  const key = ctx.secrets.get("HONCHO_API_KEY");
  const below = root ? "" : `/${encodeURIComponent(place.workspace)}${path}`;
  const url = new URL(`${place.url}/v3/workspaces${below}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const response = await ctx.fetch({
    url: url.href,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      ...(key !== undefined && key !== "" && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    // The key goes to the operator's own address and nowhere else.
    followRedirects: false,
    configured: true,
  });
  return { url: place.url, status: response.status, text: await response.text() };
}

function answerOf({ url, status, text }: Answer): unknown {
  const value = jsonOf(text);
  if (status >= 200 && status < 300 && value !== undefined) return value;
  if (status === 401 || status === 403) {
    throw new ToolError(`Honcho refused the key (${status}).`, {
      code: "denied",
      hint: "Check HONCHO_API_KEY and honcho.workspace.",
    });
  }
  if (status === 429) {
    throw new ToolError("Honcho says that it was asked too often.", {
      hint: "Wait a minute, then ask again.",
    });
  }
  const said = isRecord(value) ? (value.detail ?? value.message ?? value.error) : undefined;
  const reason = said === undefined ? "" : typeof said === "string" ? said : JSON.stringify(said);
  throw new ToolError(
    `Honcho answered ${status}${reason === "" ? "" : `: ${reason.slice(0, MAX_REASON_CHARS)}`}.`,
    { hint: status < 300 ? "Is honcho.url the address of a Honcho server?" : undefined, from: url },
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A list of texts in an answer, or none. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
