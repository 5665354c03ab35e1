import { stripControls } from "../base/visible-text.js";
import type { CallResult } from "../tool/call.js";
import { type Content, text } from "../tool/content.js";
import { ToolResult } from "../tool/result.js";
import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";

const TAG = "untrusted_tool_result";
const SOURCE_CHARS = 200;

/**
 * The result with text that others wrote (a page, a feed, a server's answer) in a frame that tells the model where it came
 * from. Last of all, so that the frame is never cut and never part of what is written to files; programs and people get
 * the text as it is.
 */
export function framedResult(call: CallRecord): CallResult {
  const own = call.ok ? sourceOf(call) : serverThatFailed(call);
  if (own !== undefined) call.addUntrusted([own]);
  call.scope.task.hear(call.untrustedFrom);
  const result = call.toResult();
  if (call.untrustedFrom.length === 0 || call.scope.forProgram === true) return result;
  const source = call.untrustedFrom.join(", ");
  return { ...result, content: result.content.map((part) => framed(part, source)) };
}

/** A server's tool that reports a failure words it itself; what this side says of a call is not framed. */
function serverThatFailed({ entry, began, error }: CallRecord): string | undefined {
  return began && (error?.code === "failed" || error?.code === "bad_result") ? serverOf(entry) : undefined;
}

function serverOf({ provenance, toolset }: CallRecord["entry"]): string | undefined {
  return provenance.kind === "mcp" ? `mcp:${provenance.source ?? toolset}` : undefined;
}

function sourceOf(call: CallRecord): string | undefined {
  const server = serverOf(call.entry);
  if (server !== undefined) return server;
  if (call.tool.untrustedSource === undefined) return undefined;
  try {
    const out: unknown = ToolResult.isInstance(call.output) ? call.output.output : call.output;
    return call.tool.untrustedSource(call.args, out);
  } catch (thrown) {
    call.scope.services.log.warn(
      `untrustedSource of tool ${call.entry.name} failed: ${describeThrown(thrown).message}`,
    );
    // Whoever cannot say where it came from has not said that it can be trusted.
    return call.entry.name;
  }
}

function framed(part: Content, source: string): Content {
  if (part.type === "text") return text(inFrame(part.text, source));
  if (part.type === "resource" && part.text !== undefined)
    return { ...part, text: inFrame(part.text, source) };
  return part;
}

/** Text that others wrote, as a model gets it: it can neither leave its frame nor say it came from elsewhere. */
export function inFrame(outside: string, source: string): string {
  return `<${TAG} source="${attribute(source)}">\n${unframed(outside)}\n</${TAG}>`;
}

/** Where the framed parts of a text came from. */
export function framedSources(told: string): readonly string[] {
  return [...told.matchAll(/<untrusted_tool_result source="([^"]*)">/g)].flatMap(([, source = ""]) =>
    source.replace(/&(?:quot|lt|gt|amp);/g, (entity) => CHARACTERS[entity] ?? entity).split(", "),
  );
}

/** What came from outside can neither close the frame nor open one. */
function unframed(outside: string): string {
  return outside.replace(/<(?=[\s/]*untrusted_tool_result)/gi, "&lt;");
}

function attribute(source: string): string {
  return stripControls(source)
    .slice(0, SOURCE_CHARS)
    .replace(/["<>&\n\r\t]/g, (found) => ENTITIES[found] ?? " ");
}

const ENTITIES: Readonly<Record<string, string>> = { '"': "&quot;", "<": "&lt;", ">": "&gt;", "&": "&amp;" };
const CHARACTERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ENTITIES).map(([character, entity]) => [entity, character]),
);
