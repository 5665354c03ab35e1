import { didYouMean } from "./did-you-mean.js";
import type { ConfigNode } from "./node.js";
import { describeNode } from "./node.js";
import type { ConfigKey, ValueType } from "./schema.js";

/** One entry of `mcp_servers`, with every default filled in. Texts may hold `${NAME}`, read when it connects. */
export interface McpServerConfig {
  /** A program that speaks over its standard input and output … */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the few variables the program sees anyway. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** … or a server on the network. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `auto`: a program when there is a command; else Streamable HTTP, and the older SSE when that is refused. */
  readonly transport: "auto" | "stdio" | "http" | "sse";
  /** `client_credentials`: the client signs in for itself; no person is asked. */
  readonly auth: "none" | "oauth" | "client_credentials";
  readonly oauth_client_id: string;
  readonly oauth_client_secret: string;
  readonly oauth_scopes: readonly string[];
  readonly enabled: boolean;
  /** Seconds without a sign of life before a call is given up; progress starts it anew. */
  readonly timeout: number;
  /** Seconds before a call is given up however much progress it reports. */
  readonly max_timeout: number;
  readonly connect_timeout: number;
  readonly supports_parallel_tool_calls: boolean;
  readonly sampling: boolean;
  /** Tell the server the working folder. Some then use it in place of the folders they were started with. */
  readonly roots: boolean;
  readonly tools: {
    /** Patterns of the server's own tool names; when not empty, only these. */
    readonly include: readonly string[];
    readonly exclude: readonly string[];
    /** Tools for the server's resources and prompts. */
    readonly resources: boolean;
    readonly prompts: boolean;
  };
}

type FieldType = ValueType | { readonly kind: "texts" } | { readonly kind: "fields"; readonly of: Fields };
type Fields = Readonly<Record<string, { readonly type: FieldType; readonly default: unknown }>>;

const text = { type: { kind: "string" }, default: "" } as const;
const list = { type: { kind: "list" }, default: [] } as const;
const texts = { type: { kind: "texts" }, default: {} } as const;
const flag = (value: boolean) => ({ type: { kind: "boolean" }, default: value }) as const;
const seconds = (value: number) =>
  ({ type: { kind: "number", min: 0.1, max: 604_800 }, default: value }) as const;
const choice = (...values: readonly [string, ...string[]]) =>
  ({ type: { kind: "enum", values }, default: values[0] }) as const;

const FIELDS: Fields = {
  command: text,
  args: list,
  env: texts,
  cwd: text,
  url: text,
  headers: texts,
  transport: choice("auto", "stdio", "http", "sse"),
  auth: choice("none", "oauth", "client_credentials"),
  oauth_client_id: text,
  oauth_client_secret: text,
  oauth_scopes: list,
  enabled: flag(true),
  timeout: seconds(120),
  max_timeout: seconds(3_600),
  connect_timeout: seconds(60),
  supports_parallel_tool_calls: flag(false),
  sampling: flag(false),
  roots: flag(false),
  tools: {
    type: {
      kind: "fields",
      of: { include: list, exclude: list, resources: flag(true), prompts: flag(true) },
    },
    default: {},
  },
};

interface Reading {
  readonly path: string;
  readonly node: ConfigNode;
  readonly report: (finding: {
    readonly severity: "error" | "warning";
    readonly message: string;
    readonly hint?: string | undefined;
    readonly place?: ConfigNode["place"] | undefined;
    readonly at: string;
  }) => void;
  /** Checks one plain value; handed in because it lives with the other kinds of values. */
  readonly check: (key: ConfigKey, node: ConfigNode) => { readonly value: unknown } | undefined;
}

/** A server that can be connected to, or undefined after reporting why not. */
export function readMcpServer(reading: Reading): McpServerConfig | undefined {
  const { path, node, report } = reading;
  const refuse = (message: string, hint: string): undefined => {
    report({ severity: "error", message, hint, place: node.place, at: path });
    return undefined;
  };
  if (node.kind !== "map")
    return refuse(
      `${path} must be a section with command or url, but it is ${describeNode(node)}`,
      "the server is not used",
    );
  const server = readFields(reading, FIELDS) as unknown as McpServerConfig | undefined;
  if (server === undefined) return undefined;
  if (!SERVER_NAME.test(path.slice(path.indexOf(".") + 1)))
    return refuse(`${path} has a name that cannot be used`, "use letters, digits, dash and underscore");
  if ((server.command === "") === (server.url === ""))
    return refuse(
      `${path} must have either a command or a url`,
      "command starts a program, url reaches a server",
    );
  if (server.url !== "" && !/^https?:\/\//i.test(server.url) && !server.url.startsWith("${"))
    return refuse(`${path}.url must begin with http:// or https://`, "the server is not used");
  return server;
}

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** A wrong value makes the whole server unusable: half of what somebody wrote is not what they meant. */
function readFields(reading: Reading, fields: Fields): Record<string, unknown> | undefined {
  const { path, node, report } = reading;
  if (node.kind !== "map") {
    const message = `${path} must be a section, but it is ${describeNode(node)}`;
    report({ severity: "error", message, hint: "the server is not used", place: node.place, at: path });
    return undefined;
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields))
    values[name] = field.type.kind === "fields" ? defaultsOf(field.type.of) : field.default;
  let isWhole = true;
  for (const entry of node.entries) {
    const at = `${path}.${entry.name}`;
    const field = Object.hasOwn(fields, entry.name) ? fields[entry.name] : undefined;
    if (field === undefined) {
      const hint =
        didYouMean(entry.name, Object.keys(fields)) ?? `it can have ${Object.keys(fields).join(", ")}`;
      report({ severity: "error", message: `unknown key ${at}`, hint, place: entry.place, at });
      isWhole = false;
      continue;
    }
    if (entry.node.kind === "scalar" && entry.node.value === null) continue;
    const read = readField({ ...reading, path: at, node: entry.node }, field.type);
    if (read === undefined) isWhole = false;
    else values[entry.name] = read.value;
  }
  return isWhole ? values : undefined;
}

function defaultsOf(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]));
}

function readField(reading: Reading, type: FieldType): { readonly value: unknown } | undefined {
  if (type.kind === "fields") {
    const value = readFields(reading, type.of);
    return value === undefined ? undefined : { value };
  }
  if (type.kind === "texts") return readTexts(reading);
  const key: ConfigKey = { path: reading.path, type, default: "", about: "", project: "never" };
  return reading.check(key, reading.node);
}

function readTexts({ path, node, report }: Reading): { readonly value: Record<string, string> } | undefined {
  const refuse = (at: string, got: ConfigNode): undefined => {
    const message = `${at} must be ${at === path ? "a section of names and texts" : "a text"}, but it is ${describeNode(got)}`;
    report({ severity: "error", message, hint: "the server is not used", place: got.place, at });
    return undefined;
  };
  if (node.kind !== "map") return refuse(path, node);
  const value: Record<string, string> = {};
  for (const entry of node.entries) {
    const { node: given } = entry;
    if (given.kind !== "scalar" || given.value === null) return refuse(`${path}.${entry.name}`, given);
    value[entry.name] = String(given.value);
  }
  return { value };
}
