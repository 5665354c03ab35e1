import { readFileSync } from "node:fs";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import { isRecord } from "../base/record.js";
import { nearestDifference } from "../replay/nearest.js";
import { parseTape, type TapedCall, type TapedTool } from "../replay/tape.js";
import { text, textOf } from "../tool/content.js";
import { createDecoder } from "../tool/decode.js";
import { defineTool } from "../tool/define.js";
import { ToolResult } from "../tool/result.js";
import type { AnyTool } from "../tool/tool.js";

/** Tools that answer from a tape, and what a test may ask of them afterwards. */
export interface ReplayedTools extends ReadonlyArray<AnyTool> {
  /** Calls that were not on the tape, each with the nearest one that is. */
  readonly misses: readonly string[];
  /** Calls of the tape that nobody made. */
  unused(): readonly TapedCall[];
}

/**
 * A toolset that answers from a tape (`hermes sessions export ID --format tape`): same names, same schemas, the recorded
 * results, and nothing touched. A call is found by its whole request, tool and arguments; of equal ones each is
 * answered once, in the order of the tape. A call that is not on it fails and says what is nearest; it never runs.
 *
 * ```ts
 * const tools = replayTools("test/tapes/story.jsonl");
 * const runtime = await createRuntime({ tools });
 * …
 * expect(tools.misses).toEqual([]);
 * ```
 */
export function replayTools(file: string): ReplayedTools {
  const tape = parseTape(readFileSync(file, "utf8"), file);
  const misses: string[] = [];
  const left = new Set(tape.calls);
  const tools = tape.header.tools.map((tool) =>
    replayTool({ tool, file, left, misses, calls: tape.calls.filter(({ name }) => name === tool.name) }),
  );
  return Object.assign(tools, { misses, unused: () => [...left] });
}

function replayTool(of: {
  readonly tool: TapedTool;
  readonly file: string;
  readonly calls: readonly TapedCall[];
  readonly left: Set<TapedCall>;
  readonly misses: string[];
}): AnyTool {
  const { tool, file, calls, left, misses } = of;
  const { name, description, parameters } = tool;
  const decoder = createDecoder({ name, parameters });
  // As a handler gets them: repaired, and with what is left out filled in.
  const argsOf = (given: unknown): unknown => {
    const decoded = decoder.decode(given);
    return decoded.ok ? decoded.args : given;
  };
  const keyed = calls.map((call) => ({ call, args: argsOf(meantBy(call)) }));
  const byKey = new Map<string, { readonly call: TapedCall }[]>();
  for (const each of keyed) {
    const key = keyOf(name, each.args);
    byKey.set(key, [...(byKey.get(key) ?? []), each]);
  }
  const missed = (why: string): ToolResult => {
    const message = `${name} is not on the tape ${file} like this, so nothing was run: ${why}`;
    misses.push(message);
    return new ToolResult({
      success: false,
      error: message,
      hint: "Record the tape again if this is right.",
    });
  };
  return defineTool({
    name,
    description,
    parameters,
    handler: (args: unknown) => {
      const next = byKey.get(keyOf(name, args))?.find(({ call }) => left.has(call));
      if (next !== undefined) {
        left.delete(next.call);
        const { id, ok, result, result_cut } = next.call;
        if (result_cut === true) return missed(`only the beginning of the result of ${id} was kept`);
        return result === undefined && ok ? missed(`the result of ${id} was not kept`) : resultOf(next.call);
      }
      const times = byKey.get(keyOf(name, args))?.length;
      if (times !== undefined)
        return missed(`it was made ${times} times with these arguments, and once more now`);
      return missed(
        nearestDifference(
          args,
          keyed.map((each) => ({ what: each.call.id, value: each.args })),
        ),
      );
    },
  });
}

/** Through Tool Search the tool that ran is named inside. */
function meantBy({ called_as, arguments: given }: TapedCall): unknown {
  if (called_as !== "tool_call" || !isRecord(given)) return given;
  return given.arguments ?? given;
}

function keyOf(name: string, args: unknown): string {
  return sha256(canonicalJson({ name, arguments: args }));
}

function resultOf({ ok, error, result = "" }: TapedCall): ToolResult {
  const told = typeof result === "string" ? result : textOf(result);
  const output = parsed(told);
  if (!ok) {
    const said = isRecord(output) && typeof output.error === "string" ? output.error : undefined;
    return new ToolResult({ success: false, error: said ?? error?.message ?? told });
  }
  const content = typeof result === "string" ? [text(result)] : result;
  return new ToolResult({ success: true, content, ...(isRecord(output) && { output }) });
}

function parsed(told: string): unknown {
  try {
    return JSON.parse(told);
  } catch {
    return undefined;
  }
}
