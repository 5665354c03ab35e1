import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { FetchRequest, FetchResponse } from "../../tool/fetch.js";
import type { CallContext } from "../../tool/tool.js";

export const OPENAI = "https://api.openai.com/v1";

/** A setting of a section, without blanks around it; undefined when it is empty. */
export function wordOf(section: unknown, name: string): string | undefined {
  const value = isRecord(section) ? section[name] : undefined;
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** A base address with or without its version, and a path of the OpenAI interface. */
export function interfaceUrl(base: string, path: string): string {
  const trimmed = base.replace(/\/+$/, "");
  return `${/\/v\d+\w*$/.test(trimmed) ? trimmed : `${trimmed}/v1`}${path}`;
}

/**
 * OpenAI's key goes to OpenAI only: a server of another address has one of its own, or none. `own` names the variable
 * that holds it.
 */
export function serverKey(base: string, own: string, ctx: CallContext): string | undefined {
  const isOpenAi = URL.canParse(base) && new URL(base).host === new URL(OPENAI).host;
  return ctx.secrets.get(own) ?? (isOpenAi ? ctx.secrets.get("OPENAI_API_KEY") : undefined);
}

/** Asks a server that the operator has chosen; what it refuses is told in words, never with what was sent. */
export async function askServer(
  request: Omit<FetchRequest, "configured"> & { readonly server: string; readonly keyName: string },
  ctx: CallContext,
): Promise<FetchResponse> {
  const { server, keyName, ...sent } = request;
  const response = await ctx.fetch({ ...sent, configured: true });
  if (response.ok) return response;
  const detail = errorText(await response.text().catch(() => ""));
  throw new ToolError(`${server} ${refusal(response.status)}${detail === "" ? "." : `: ${detail}`}`, {
    hint:
      response.status === 401 || response.status === 403
        ? `Check ${keyName}.`
        : "Change the provider (`hermes config set`), or try again later.",
  });
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return "refused the key";
  if (status === 402) return "says that its credit is used up";
  if (status === 429) return "says that it was asked too often, or that its credit is used up";
  return `answered ${status}`;
}

const MAX_DETAIL_CHARS = 300;

/** OpenAI and those who follow it say `error.message`, ElevenLabs `detail.message`. */
function errorText(body: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return "";
  }
  if (!isRecord(answer)) return "";
  const told = [answer.error, answer.detail].map((part) => (isRecord(part) ? part.message : part));
  const text = told.find((part): part is string => typeof part === "string") ?? "";
  return text.replace(/\s+/g, " ").slice(0, MAX_DETAIL_CHARS);
}
