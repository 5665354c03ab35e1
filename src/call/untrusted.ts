import { stripControls } from "../base/visible-text.js";
import type { CallResult } from "../tool/call.js";
import { type Content, text } from "../tool/content.js";
import { ToolResult } from "../tool/result.js";
import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import { foldTagName } from "./framing-names.js";

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
  call.scope.task.hear([...readFrom(call), ...call.untrustedFrom]);
  const result = call.toResult();
  if (call.untrustedFrom.length === 0 || call.scope.forProgram === true) return result;
  const source = call.untrustedFrom.join(", ");
  return { ...result, content: result.content.map((part) => framed(part, source)) };
}

/** What stands in files, and what programs print, may be anybody's words. They are told as they are: edits need them so. */
export const FILES = "files";
export const COMMANDS = "output of commands";

/** Files below a folder that the person trusts are the person's own words. */
function readFrom({ began, effects, scope }: CallRecord): readonly string[] {
  if (!began) return [];
  const isOwn = (path: string) => scope.services.trusts?.(path) === true;
  const readsFiles = effects.some(({ action, resource }) => action === "file:read" && !isOwn(resource));
  const runsPrograms = effects.some(({ mode, action }) => mode === "execute" && RUNS.test(action));
  return [...(readsFiles ? [FILES] : []), ...(runsPrograms ? [COMMANDS] : [])];
}

const RUNS = /^(?:terminal|code|docker):/;

/** What a tool of these permissions gives may be others' words; for results of which nothing else is known any more. */
export function mayReadOthers(permissions: readonly string[]): readonly string[] {
  return [
    ...(permissions.includes("file:read") ? [FILES] : []),
    ...(permissions.some((permission) => RUNS.test(permission)) ? [COMMANDS] : []),
  ];
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
    plainAttribute(source).split(", "),
  );
}

/** What came from outside can neither close the frame nor open one, and holds nothing that a person would not see. */
function unframed(outside: string): string {
  return withoutTag(stripControls(outside), "untrustedtoolresult");
}

/** Brackets and what looks like them. */
const OPENER = /[<＜﹤‹⟨〈❮]/g;
const TAG_CHARS = 60;

/** No tag of this name is left in the text, opening or closing, however its letters are spelled. */
export function withoutTag(text: string, folded: string): string {
  return text.replace(OPENER, (opener, at: number) => {
    const next = text.slice(at + 1, at + 1 + TAG_CHARS).normalize("NFKC");
    return foldTagName(next).startsWith(folded) ? "&lt;" : opener;
  });
}

/** A text between the quotes of an attribute. */
export function attribute(source: string): string {
  return stripControls(source)
    .slice(0, SOURCE_CHARS)
    .replace(/["<>&\n\r\t]/g, (found) => ENTITIES[found] ?? " ");
}

export function plainAttribute(written: string): string {
  return written.replace(/&(?:quot|lt|gt|amp);/g, (entity) => CHARACTERS[entity] ?? entity);
}

const ENTITIES: Readonly<Record<string, string>> = { '"': "&quot;", "<": "&lt;", ">": "&gt;", "&": "&amp;" };
const CHARACTERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ENTITIES).map(([character, entity]) => [entity, character]),
);
