import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";

/** What Home Assistant calls things; anything else would become a part of an address. */
export const ENTITY_ID = "^[a-z0-9_]+\\.[a-z0-9_]+$";
export const NAME = "^[a-z0-9_]+$";

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 20 * 1024 * 1024;
const MAX_REASON_CHARS = 300;

export interface EntityState {
  readonly entity_id: string;
  readonly state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly last_changed?: string | undefined;
  readonly last_updated?: string | undefined;
}

/** Where the operator's Home Assistant is, without a slash at its end. */
export function homeUrl(settings: CallContext["settings"]): string {
  const section = settings.homeassistant;
  const url = isRecord(section) && typeof section.url === "string" ? section.url : "";
  return url.trim().replace(/\/+$/, "");
}

/** One request to the REST API (developers.home-assistant.io/docs/api/rest); undefined when there is no such thing. */
export async function askHome(
  ctx: CallContext,
  request: { readonly path: string; readonly body?: unknown },
): Promise<string | undefined> {
  const token = ctx.secrets.get("HASS_TOKEN");
  if (token === undefined || token === "") {
    throw new ToolError("Home Assistant needs a token.", {
      code: "unavailable",
      hint: "Make a long-lived access token in your Home Assistant profile and set HASS_TOKEN.",
    });
  }
  const { body } = request;
  const response = await ctx.fetch({
    url: `${homeUrl(ctx.settings)}${request.path}`,
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    // The token goes to the operator's own address and nowhere else.
    followRedirects: false,
    configured: true,
    hints: { timeout: "Is Home Assistant running? Its address is the setting homeassistant.url." },
  });
  const text = await response.text();
  if (response.ok) return text;
  if (response.status === 404) return undefined;
  throw refused({ status: response.status, answer: text, url: homeUrl(ctx.settings) });
}

function refused(reply: {
  readonly status: number;
  readonly answer: string;
  readonly url: string;
}): ToolError {
  const { status, answer, url } = reply;
  const parsed = jsonOf(answer);
  const said = isRecord(parsed) && typeof parsed.message === "string" ? parsed.message : answer;
  const reason = said.replace(/\s+/g, " ").trim().slice(0, MAX_REASON_CHARS);
  if (status === 401 || status === 403) {
    return new ToolError(`Home Assistant refused the token (${status}).`, {
      code: "denied",
      hint: "Check HASS_TOKEN; some requests need the token of an administrator.",
    });
  }
  if (status >= 300 && status < 400) {
    return new ToolError("Home Assistant sends requests elsewhere.", {
      hint: "Set homeassistant.url to the address it really has (http or https, host, port).",
    });
  }
  return new ToolError(`Home Assistant answered ${status}${reason === "" ? "" : `: ${reason}`}.`, {
    hint: status === 400 ? "Look at the fields with ha_list_services." : undefined,
    from: url,
  });
}

/** As `askHome`, for answers in JSON. */
export async function askHomeJson(
  ctx: CallContext,
  request: { readonly path: string; readonly body?: unknown },
): Promise<unknown> {
  const text = await askHome(ctx, request);
  if (text === undefined) return undefined;
  const value = jsonOf(text);
  if (value !== undefined) return value;
  throw new ToolError(`${homeUrl(ctx.settings)} did not answer as Home Assistant does.`, {
    hint: "Check homeassistant.url.",
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The states in an answer; what does not look like one is left out. */
export function statesIn(answer: unknown): readonly EntityState[] {
  return (Array.isArray(answer) ? answer : []).flatMap((one: unknown) => stateOf(one) ?? []);
}

export function stateOf(value: unknown): EntityState | undefined {
  if (!isRecord(value) || typeof value.entity_id !== "string") return undefined;
  return {
    entity_id: value.entity_id,
    state: String(value.state ?? ""),
    attributes: isRecord(value.attributes) ? value.attributes : {},
    ...(typeof value.last_changed === "string" && { last_changed: value.last_changed }),
    ...(typeof value.last_updated === "string" && { last_updated: value.last_updated }),
  };
}

export function friendlyName({ attributes }: EntityState): string | undefined {
  return typeof attributes.friendly_name === "string" ? attributes.friendly_name : undefined;
}
