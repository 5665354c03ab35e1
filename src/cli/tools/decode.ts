import { readFile } from "node:fs/promises";
import { messageOf } from "../../base/errno.js";
import { sanitizeErrorText } from "../../call/sanitize.js";
import {
  isParsedRequest,
  type ParsedRequest,
  parseRequest,
  parseRequestText,
  wireId,
} from "../../protocol/index.js";
import { ToolRegistry } from "../../registry/registry.js";
import { createRuntime } from "../../runtime/create-runtime.js";
import type { Session } from "../../runtime/session.js";
import { type Failure, failure } from "../../tool/errors.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { answerLines, expandRepeats } from "../input.js";

interface Decoded {
  readonly id: string | null;
  readonly outcome: "ok" | "error";
  readonly args?: Readonly<Record<string, unknown>>;
  readonly error?: string | undefined;
}

/** Requests in, decoded arguments or errors out: the first stages of the path, run for real, without the rest. */
export async function decode(context: CommandContext): Promise<void> {
  const { options } = context;
  const registry = await readTools(String(options.tools));
  const runtime = await createRuntime({
    home: context.home,
    registry,
    builtins: false,
    userTools: false,
    journal: false,
  });
  const session = await runtime.openSession({ toolsets: ["all"] });
  await answerLines({
    answer: async (line) => ({ results: await decodeLine(line, session) }),
    failed: (why) => ({ results: [{ id: null, outcome: "error", error: why } satisfies Decoded] }),
  });
  await runtime.close();
}

async function decodeLine(line: unknown, session: Session): Promise<readonly Decoded[]> {
  const request = readRequest(line);
  if (!isParsedRequest(request)) return [{ id: null, outcome: "error", error: request.message }];
  const decoded: Decoded[] = [];
  for (const [index, call] of request.calls.entries()) {
    const explained = await session.explainCall(call);
    const id = wireId(request, index);
    decoded.push(
      explained.error === undefined
        ? { id, outcome: "ok", args: explained.args ?? {} }
        : { id, outcome: "error", error: describe(explained.error) },
    );
  }
  return decoded;
}

function readRequest(line: unknown): ParsedRequest | Failure {
  if (typeof line !== "object" || line === null)
    return failure("bad_request", "the line is not a JSON object");
  if ("request" in line) return parseRequest(line.request);
  const text = "request_text" in line ? requestText(line.request_text) : undefined;
  return text === undefined
    ? failure("bad_request", 'the line has neither "request" nor a usable "request_text"')
    : parseRequestText(text);
}

function requestText(source: unknown): string | Uint8Array | undefined {
  if (typeof source === "string") return source;
  if (typeof source !== "object" || source === null) return undefined;
  if ("hex" in source && typeof source.hex === "string") return Buffer.from(source.hex, "hex");
  return "repeat" in source ? expandRepeats(source.repeat) : undefined;
}

function describe(problem: Failure): string {
  return problem.hint === undefined ? problem.message : `${problem.message} (${problem.hint})`;
}

async function readTools(file: string): Promise<ToolRegistry> {
  const bad = (why: string) =>
    commandError("bad_request", `cannot use ${file}: ${why}`, "Give a JSON array of { name, parameters }.");
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw bad(messageOf(error));
  }
  if (!Array.isArray(parsed)) throw bad("it is not an array");
  const registry = new ToolRegistry();
  for (const row of parsed as { name?: unknown; description?: unknown; parameters?: unknown }[]) {
    if (typeof row?.name !== "string") throw bad("an entry has no name");
    try {
      registry.add({
        name: row.name,
        toolset: "decode",
        description: typeof row.description === "string" ? row.description : "",
        parameters: (row.parameters ?? { type: "object" }) as JsonSchema,
        permissions: [],
        handler: () => "never run",
      });
    } catch (error) {
      throw bad(`${row.name}: ${messageOf(error)}`);
    }
  }
  return registry;
}

/** `{"raw": "…"}` or `{"raw_parts": [[text, times], …]}` per line → `{"text": …}`. */
export async function sanitize(_context: CommandContext): Promise<void> {
  await answerLines({
    answer(line) {
      const row =
        typeof line === "object" && line !== null ? (line as { raw?: unknown; raw_parts?: unknown }) : {};
      const raw = typeof row.raw === "string" ? row.raw : expandRepeats(row.raw_parts);
      return { text: raw === undefined ? null : sanitizeErrorText(raw) };
    },
    failed: () => ({ text: null }),
  });
}
