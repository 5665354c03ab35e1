import type { ToolAnnotations } from "@modelcontextprotocol/server";
import type { Entry } from "../../registry/entry.js";

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
export function titleOf(name: string): string {
  const words = name.replace(/[_.-]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
