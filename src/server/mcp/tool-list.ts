import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Entry, ToolDefinition } from "../../registry/entry.js";
import type { Session } from "../../runtime/session.js";
import { advertisedOutput } from "./output-schema.js";

/** Longer lists are given in pages. */
export const PAGE_SIZE = 200;

/** What a client is told of a session's tools: exactly those a model of the session would be told of. */
export async function toolsOf(session: Session): Promise<readonly Tool[]> {
  const definitions = await session.definitions();
  return definitions.map((definition) => toolFor(definition, entryFor(session, definition.function.name)));
}

/** The tool behind a name of this session, if there is one. */
export function entryFor(session: Session, name: string): Entry | undefined {
  const { bridge, view } = session.scope;
  const own = bridge?.find(name);
  if (own !== undefined) return own.entry;
  const found = view.find(name);
  return "code" in found ? undefined : found.entry;
}

function toolFor({ function: schema }: ToolDefinition, entry: Entry | undefined): Tool {
  const output = advertisedOutput(entry?.output);
  return {
    name: schema.name,
    title: titleOf(schema.name),
    description: schema.description,
    inputSchema: { ...schema.parameters, type: "object" } as Tool["inputSchema"],
    ...(output !== undefined && { outputSchema: output as Tool["outputSchema"] }),
    ...(entry !== undefined && {
      annotations: { ...annotationsOf(entry), title: titleOf(schema.name) },
      _meta: {
        "hermes-tools/toolset": entry.toolset,
        "hermes-tools/permissions": [...entry.permissions],
        ...(entry.emoji !== undefined && { "hermes-tools/emoji": entry.emoji }),
      },
    }),
  };
}

/** One page, and where the next begins. Undefined for a cursor that none of our pages gave. */
export function pageOf(
  tools: readonly Tool[],
  cursor: string | undefined,
): { readonly tools: Tool[]; readonly nextCursor?: string } | undefined {
  const after = cursor === undefined ? undefined : nameFrom(cursor);
  if (cursor !== undefined && after === undefined) return undefined;
  // By name and not by number: a tool that comes or goes between two pages hides no other one.
  const start = after === undefined ? 0 : tools.findIndex(({ name }) => name > after);
  const page = start < 0 ? [] : tools.slice(start, start + PAGE_SIZE);
  const last = page.at(-1);
  const more = last !== undefined && last !== tools.at(-1);
  return { tools: page, ...(more && { nextCursor: cursorAfter(last.name) }) };
}

const CURSOR = /^n\.[\w-]{1,200}$/;

function cursorAfter(name: string): string {
  return `n.${Buffer.from(name).toString("base64url")}`;
}

function nameFrom(cursor: string): string | undefined {
  if (!CURSOR.test(cursor)) return undefined;
  return Buffer.from(cursor.slice(2), "base64url").toString("utf8");
}

/** Verbs that leave everything as it was. */
const READING: ReadonlySet<string> = new Set(["read", "list", "search", "fetch", "get", "view"]);
/** Verbs that add something and take nothing away. */
const ADDING: ReadonlySet<string> = new Set(["send", "notify", "create", "speak"]);
/** Where leaving the permissions out is no word about what a tool does. */
const UNSAID: ReadonlySet<Entry["provenance"]["kind"]> = new Set(["home", "project", "plugin"]);
/** Domains whose other end is not this machine. */
const OUTSIDE: ReadonlySet<string> = new Set(["network", "web", "browser", "message", "mcp", "email"]);

/** What a client may tell its person about a tool. Hints only: what a call may do is decided call by call. */
export function annotationsOf(
  entry: Pick<Entry, "name" | "permissions" | "idempotent" | "provenance">,
): ToolAnnotations {
  const pairs = entry.permissions.map((permission) => permission.split(":"));
  // Clients skip their own question for tools that only read, so nobody is taken for one by saying nothing.
  const unsaid = pairs.length === 0 && UNSAID.has(entry.provenance.kind);
  const readsOnly = !unsaid && pairs.every(([, verb = ""]) => READING.has(verb));
  const runsAnything = pairs.some(([, verb]) => verb === "execute");
  return {
    title: titleOf(entry.name),
    readOnlyHint: readsOnly,
    destructiveHint: unsaid || pairs.some(([, verb = ""]) => !READING.has(verb) && !ADDING.has(verb)),
    idempotentHint: entry.idempotent === true,
    // A command can reach the network whatever its tool says.
    openWorldHint:
      unsaid ||
      runsAnything ||
      entry.provenance.kind === "mcp" ||
      pairs.some(([domain = ""]) => OUTSIDE.has(domain)),
  };
}

/** `read_file` → "Read file". */
function titleOf(name: string): string {
  const words = name.replace(/[_.-]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
