import { isAbsolute } from "node:path";
import type * as acp from "@agentclientprotocol/sdk";
import type { Content } from "../../tool/content.js";
import type { Effect } from "../../tool/effects.js";
import { plainText } from "../../tool/marked-text.js";

const MAX_TITLE_CHARS = 2_000;
const MAX_LOCATIONS = 20;

/** What an editor shows beside a call; told by what the call touches, never by the name of its tool. */
export function kindOf(effects: readonly Effect[]): acp.ToolKind {
  if (effects.length === 0) return "think";
  if (effects.some(({ mode, action }) => mode === "execute" || /^(?:terminal|process|code):/.test(action)))
    return "execute";
  const files = effects.filter(({ action }) => action.startsWith("file:"));
  if (files.some(({ action }) => action === "file:delete")) return "delete";
  if (files.some(({ action }) => action === "file:move")) return "move";
  if (files.some(({ mode }) => mode === "write")) return "edit";
  if (effects.some(({ action }) => action.endsWith(":search"))) return "search";
  if (files.length > 0) return "read";
  if (effects.some(({ action }) => /^(?:network|browser|web):/.test(action))) return "fetch";
  return "other";
}

/** The whole command, path or address: a person who is asked must see all of it. */
export function titleOf(tool: string, effects: readonly Effect[]): string {
  const touched = effects.map(({ resource }) => resource).filter((resource) => resource !== "*");
  const title = touched.length === 0 ? tool : `${tool}: ${touched.join("; ")}`;
  return title.length <= MAX_TITLE_CHARS ? title : `${title.slice(0, MAX_TITLE_CHARS)} …`;
}

export function locationsOf(effects: readonly Effect[]): acp.ToolCallLocation[] {
  const paths = effects
    .filter(({ action, resource }) => action.startsWith("file:") && isAbsolute(resource))
    .map(({ resource }) => resource);
  return [...new Set(paths)].slice(0, MAX_LOCATIONS).map((path) => ({ path }));
}

/** Results as people read them; pictures as they are. */
export function contentOf(result: {
  readonly human: string;
  readonly content: readonly Content[];
}): acp.ToolCallContent[] {
  const text = plainText(result.human);
  return [
    ...(text === "" ? [] : [textContent(text)]),
    ...result.content.flatMap((part): acp.ToolCallContent[] =>
      part.type === "image"
        ? [{ type: "content", content: { type: "image", data: part.data, mimeType: part.mimeType } }]
        : [],
    ),
  ];
}

export function textContent(text: string): acp.ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
