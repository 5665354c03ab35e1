import { readFileSync } from "node:fs";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import { type ModelClient, ModelError, type ModelPart, type ModelRequest } from "../model/model-client.js";
import { nearestDifference } from "../replay/nearest.js";
import { parseTape, type TapedMessage } from "../replay/tape.js";
import { textOf } from "../tool/content.js";

export interface ReplayModelOptions {
  /** False leaves the system prompt out of the comparison: it names the day and the folder. */
  readonly system?: boolean;
}

/**
 * The model of a recorded conversation. An answer is found by everything that was said before it, so a changed prompt, a
 * changed result or a changed order is a miss: an error that shows the nearest request of the tape. No model is asked.
 */
export function replayModel(file: string, { system = true }: ReplayModelOptions = {}): ModelClient {
  const tape = parseTape(readFileSync(file, "utf8"), file);
  const requests = requestsOf(tape.messages, system);
  const called = new Set(tape.messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ name }) => name));
  return {
    async *stream(request) {
      const offered = new Set(request.tools?.map(({ name }) => name));
      const missing = [...called].filter((name) => !offered.has(name));
      if (missing.length > 0) throw miss(file, `the model is no longer offered ${missing.join(", ")}`);
      const asked = saidIn(request, system);
      const found = requests.find(({ key }) => key === keyOf(asked));
      if (found === undefined) {
        throw miss(
          file,
          nearestDifference(
            asked,
            requests.map(({ said }, index) => ({ what: `request ${index + 1}`, value: said })),
          ),
        );
      }
      yield* partsOf(found.answer);
    },
  };
}

function miss(file: string, why: string): ModelError {
  return new ModelError(
    "bad_answer",
    `this request is not on the tape ${file}, and no model was asked: ${why}`,
  );
}

interface Said {
  readonly role: string;
  readonly content: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly answers?: string;
}

interface RecordedRequest {
  readonly key: string;
  readonly said: readonly Said[];
  readonly answer: TapedMessage;
}

function requestsOf(messages: readonly TapedMessage[], system: boolean): readonly RecordedRequest[] {
  const requests: RecordedRequest[] = [];
  const said: Said[] = [];
  for (const message of messages) {
    // From a summary on, what the model read is no longer what the tape holds.
    if (message.role === "summary") break;
    if (message.role === "assistant") {
      requests.push({ key: keyOf(said), said: [...said], answer: message });
    }
    if (message.role === "system" && !system) continue;
    said.push(
      saidOf({
        role: message.role,
        content: message.content,
        toolCalls: message.tool_calls,
        toolCallId: message.tool_call_id,
      }),
    );
  }
  return requests;
}

function saidIn({ messages }: ModelRequest, system: boolean): readonly Said[] {
  return messages.filter(({ role }) => system || role !== "system").map((message) => saidOf({ ...message }));
}

function saidOf(message: {
  readonly role: string;
  readonly content: TapedMessage["content"];
  readonly toolCalls?: TapedMessage["tool_calls"];
  readonly toolCallId?: string | undefined;
}): Said {
  const { role, content, toolCalls = [], toolCallId } = message;
  return {
    role,
    content: typeof content === "string" ? content : textOf(content),
    ...(toolCalls.length > 0 && {
      calls: toolCalls.map(({ id, name, arguments: given }) => ({ id, name, arguments: parsed(given) })),
    }),
    ...(toolCallId !== undefined && { answers: toolCallId }),
  };
}

function parsed(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

function keyOf(said: readonly Said[]): string {
  return sha256(canonicalJson(said));
}

function* partsOf({ content, tool_calls = [] }: TapedMessage): Generator<ModelPart> {
  const told = typeof content === "string" ? content : textOf(content);
  if (told !== "") yield { type: "text", text: told };
  for (const call of tool_calls) yield { type: "tool_call", call };
  yield { type: "finish", reason: tool_calls.length > 0 ? "tool_calls" : "stop" };
}
