import { isRecord } from "../../base/record.js";
import type { HermesError } from "../../tool/errors.js";
import { commandError } from "../errors.js";
import type { ServerSection } from "./servers.js";

export interface ImportedServer {
  readonly name: string;
  readonly section: ServerSection;
  /** What was in the snippet and counts for nothing here. */
  readonly notes: readonly string[];
}

/** Kinds of connection as other programs call them. */
const TRANSPORTS: Readonly<Record<string, string>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamablehttp: "http",
  streamable_http: "http",
  sse: "sse",
};
/** Fields that mean the same under the same name. */
const SAME = new Set(["command", "args", "env", "cwd", "url", "headers"]);

/** Servers of a snippet as Claude Desktop, Cursor, VS Code and others write it. */
export function serversFromJson(text: string, wanted: string | undefined): readonly ImportedServer[] {
  const root = objectFrom(text);
  const sections = sectionsOf(root, wanted);
  const found = Object.entries(sections).map(([name, value]) => serverFrom(name, value));
  if (wanted === undefined || Object.keys(sections).length === 0) {
    if (found.length > 0) return found;
    throw refused("it names no server", 'It should hold {"mcpServers": {"name": {"command": "…"}}}.');
  }
  const chosen = found.filter(({ name }) => name === wanted);
  if (chosen.length > 0) return chosen;
  throw refused(`it names no server ${wanted}`, `It has ${found.map(({ name }) => name).join(", ")}.`);
}

function sectionsOf(root: Record<string, unknown>, wanted: string | undefined): Record<string, unknown> {
  for (const key of ["mcpServers", "mcp_servers", "servers"]) {
    if (isRecord(root[key])) return root[key];
  }
  const mcp = root.mcp;
  if (isRecord(mcp) && isRecord(mcp.servers)) return mcp.servers;
  if (typeof root.command !== "string" && typeof root.url !== "string") return root;
  if (wanted !== undefined) return { [wanted]: root };
  throw refused(
    "it holds one server without a name",
    "Say what to call it: hermes mcp add NAME --from-json F.",
  );
}

function serverFrom(given: string, value: unknown): ImportedServer {
  if (!isRecord(value)) throw refused(`${given} is not a server`, "A server has a command or a url.");
  const notes: string[] = [];
  const name = given
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, 64);
  if (name !== given) notes.push(`${JSON.stringify(given)} is called ${name} here`);
  const section: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (SAME.has(key)) section[key] = withVariables(field, notes);
    else if (key === "serverUrl" || key === "httpUrl") section.url = withVariables(field, notes);
    else if (key === "type" || key === "transport")
      section.transport = TRANSPORTS[String(field).toLowerCase()];
    else if (key === "disabled") section.enabled = field !== true;
    else notes.push(`${key} is not used here`);
  }
  if (section.transport === undefined) delete section.transport;
  return { name, section, notes };
}

/** `${env:NAME}` and `${input:name}` become the `${NAME}` of this program. */
function withVariables(value: unknown, notes: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withVariables(item, notes));
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, withVariables(inner, notes)]),
    );
  if (typeof value !== "string") return value;
  return value.replace(/\$\{(env|input):([^}]+)\}/g, (_whole, kind: string, name: string) => {
    const variable = kind === "env" ? name : name.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
    if (kind === "input") notes.push(`set ${variable} in .env: the other program would ask for it`);
    return `\${${variable}}`;
  });
}

function objectFrom(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused(`it is not JSON: ${error instanceof Error ? error.message : ""}`, "Nothing was written.");
  }
  if (isRecord(value)) return value;
  throw refused("it is not a JSON object", "Nothing was written.");
}

function refused(what: string, hint: string): HermesError {
  return commandError("bad_request", `the snippet cannot be used: ${what}`, hint);
}
