import type { NewMessage } from "../../agent/sessions/types.js";
import { isRecord } from "../../base/record.js";
import type { IncomingCall } from "../../tool/call.js";
import { type Content, text, textOf } from "../../tool/content.js";
import { failure } from "../../tool/errors.js";
import { badRequest, type Problem } from "../problem.js";

/** What a client of `/v1/chat/completions` wants. */
export interface ChatRequest {
  readonly stream: boolean;
  /** Whether a stream ends with what it cost. */
  readonly includeUsage: boolean;
  /** System and developer messages, as one text. */
  readonly instructions: string;
  readonly history: readonly NewMessage[];
  readonly message: string | readonly Content[];
}

export const MODEL_ID = "hermes";

const PROMPT_ROLES = ["system", "developer"];

/** With `lastOnly` the rest is known here already and is not looked at. */
export function chatRequestFrom(
  body: Buffer,
  { lastOnly }: { readonly lastOnly: boolean },
): ChatRequest | Problem {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return wrong("The body is not JSON");
  }
  if (!isRecord(parsed)) return wrong("The body must be an object");
  const refused = refusedOptions(parsed);
  if (refused !== undefined) return refused;
  const { messages } = parsed;
  if (!Array.isArray(messages) || messages.length === 0)
    return wrong("messages must be a list with an entry");
  const read: NewMessage[] = [];
  const instructions: string[] = [];
  const from = lastOnly ? messages.length - 1 : 0;
  for (const [index, given] of messages.entries()) {
    if (index < from) continue;
    const where = `messages[${index}]`;
    if (!isRecord(given)) return wrong(`${where} must be an object`);
    const content = contentOf(given.content, where);
    if ("status" in content) return content;
    if (PROMPT_ROLES.includes(String(given.role))) instructions.push(textOf(content.parts));
    else {
      const message = messageOf(given, { content: content.parts, where });
      if ("status" in message) return message;
      read.push(message);
    }
  }
  const last = read.at(-1);
  if (last?.role !== "user")
    return wrong("The last message must be the user's", "The agent answers what a user says.");
  return {
    stream: parsed.stream === true,
    includeUsage: isRecord(parsed.stream_options) && parsed.stream_options.include_usage === true,
    instructions: instructions.join("\n\n"),
    history: read.slice(0, -1),
    message: last.content,
  };
}

/** Options that would change what an answer is. How a model is to sound (`temperature` …) is left to the settings. */
function refusedOptions({
  model,
  n,
  tools,
  functions,
}: Readonly<Record<string, unknown>>): Problem | undefined {
  if (model !== undefined && model !== MODEL_ID)
    return {
      status: 404,
      code: "not_found",
      message: `There is no model ${JSON.stringify(String(model).slice(0, 80))} here.`,
      hint: `The model of this server is "${MODEL_ID}"; its settings say which one answers.`,
    };
  if (n !== undefined && n !== null && n !== 1) return wrong("n must be 1: an agent acts once");
  if ([tools, functions].some((given) => Array.isArray(given) && given.length > 0))
    return wrong(
      "Tools of the client are not called: this agent runs its own",
      "Leave tools out; GET /v1/tools lists those it has.",
    );
  return undefined;
}

function messageOf(
  given: Readonly<Record<string, unknown>>,
  { content, where }: { readonly content: readonly Content[]; readonly where: string },
): NewMessage | Problem {
  const { role, tool_calls, tool_call_id, name } = given;
  switch (role) {
    case "user":
      return { role, content: plain(content) };
    case "assistant": {
      const toolCalls = callsOf(tool_calls);
      if (toolCalls === undefined) return wrong(`${where}.tool_calls is not a list of function calls`);
      return { role, content: textOf(content), ...(toolCalls.length > 0 && { toolCalls }) };
    }
    case "tool":
      if (typeof tool_call_id !== "string") return wrong(`${where}.tool_call_id must be a text`);
      return {
        role,
        toolCallId: tool_call_id,
        content: plain(content),
        name: typeof name === "string" ? name : undefined,
      };
    default:
      return wrong(
        `${where}.role is ${JSON.stringify(role)?.slice(0, 40)}`,
        "Roles are system, developer, user, assistant and tool.",
      );
  }
}

/** One text stays a text: it is how most clients write it, and how it is searched. */
function plain(content: readonly Content[]): string | readonly Content[] {
  return content.every(({ type }) => type === "text") ? textOf(content) : content;
}

function callsOf(given: unknown): readonly IncomingCall[] | undefined {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) return undefined;
  const calls: IncomingCall[] = [];
  for (const entry of given) {
    const called: unknown = isRecord(entry) ? entry.function : undefined;
    if (!isRecord(entry) || !isRecord(called)) return undefined;
    if (typeof entry.id !== "string" || typeof called.name !== "string") return undefined;
    calls.push({ id: entry.id, name: called.name, arguments: called.arguments });
  }
  return calls;
}

function contentOf(given: unknown, where: string): { readonly parts: readonly Content[] } | Problem {
  if (typeof given === "string") return { parts: [text(given)] };
  if (given === undefined || given === null) return { parts: [] };
  if (!Array.isArray(given)) return wrong(`${where}.content must be a text or a list of parts`);
  const parts: Content[] = [];
  for (const [index, part] of given.entries()) {
    const read = partOf(part, `${where}.content[${index}]`);
    if ("status" in read) return read;
    parts.push(read);
  }
  return { parts };
}

const DATA_URL = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

function partOf(part: unknown, where: string): Content | Problem {
  if (!isRecord(part)) return wrong(`${where} must be an object`);
  if (part.type === "text" && typeof part.text === "string") return text(part.text);
  if (part.type !== "image_url")
    return wrong(`${where} is neither a text nor an image_url`, "Other parts are not taken.");
  const url: unknown = isRecord(part.image_url) ? part.image_url.url : part.image_url;
  const [, mimeType, data] = DATA_URL.exec(typeof url === "string" ? url : "") ?? [];
  // An address would be fetched from here, for whoever sends it.
  if (mimeType === undefined || data === undefined)
    return wrong(`${where} is no data: address`, "Send pictures as data:image/…;base64,…");
  return { type: "image", mimeType, data };
}

function wrong(message: string, hint = 'Send {"messages":[{"role":"user","content":"…"}]}.'): Problem {
  return badRequest(failure("bad_request", message, hint));
}
