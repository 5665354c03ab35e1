import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { serveMcpOverStreams } from "../../../src/server/mcp/stdio.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { onTestEnd, type TestRuntime, testRuntime } from "../../support/runtime.js";
import { startServer, TOKEN } from "../support.js";

/** Each way in: what carries the messages, and which revision of the protocol is spoken. */
export const WAYS = [
  ["stdio", "2025-11-25"],
  ["stdio", "2026-07-28"],
  ["http", "2025-11-25"],
  ["http", "2026-07-28"],
] as const;

export type Carrier = (typeof WAYS)[number][0];
export type Revision = (typeof WAYS)[number][1];

export interface Form {
  readonly message: string;
  readonly fields: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

/** What the person behind the client does with a form. */
export type Person = (form: Form) => unknown;

export interface ClientOptions {
  readonly revision: Revision;
  /** Without one the client cannot ask. */
  readonly person?: Person | undefined;
  readonly onToolsChanged?: () => void;
  /** Sent with each request, over HTTP. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client of the SDK, as hosts use it. */
export function createClient({ revision, person, onToolsChanged }: ClientOptions): Client {
  const client = new Client(
    { name: "test-client", version: "1" },
    {
      capabilities: person === undefined ? {} : { elicitation: {} },
      ...(revision === "2026-07-28" && { versionNegotiation: { mode: { pin: revision } } }),
      ...(onToolsChanged !== undefined && {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => onToolsChanged() } },
      }),
    },
  );
  if (person !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const { message, requestedSchema } = params as {
        message: string;
        requestedSchema: { properties: Form["fields"] };
      };
      return (await person({ message, fields: requestedSchema.properties })) as { action: "accept" };
    });
  }
  onTestEnd(() => client.close());
  return client;
}

export interface Served extends TestRuntime {
  connect(options?: Partial<ClientOptions>): Promise<Client>;
}

/** A runtime with these tools behind the MCP door, and clients for it. */
export async function serve(
  way: readonly [Carrier, Revision],
  {
    tools,
    runtime: options,
  }: { readonly tools: readonly AnyTool[]; readonly runtime?: Parameters<typeof testRuntime>[1] },
): Promise<Served> {
  const [carrier, revision] = way;
  if (carrier === "http") {
    const served = await startServer(tools, { runtime: options });
    const connect = async (more: Partial<ClientOptions> = {}) => {
      const client = createClient({ revision, ...more });
      await client.connect(httpTransport(served.server.url, TOKEN, more.headers));
      return client;
    };
    return { ...served, connect };
  }
  const made = await testRuntime(tools, options);
  const connect = async (more: Partial<ClientOptions> = {}) => {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    const leave = new AbortController();
    const served = serveMcpOverStreams({
      runtime: made.runtime,
      input: toServer,
      output: toClient,
      signal: leave.signal,
    });
    onTestEnd(async () => {
      leave.abort();
      await served;
    });
    const client = createClient({ revision, ...more });
    // Both ends of this transport are alike.
    await client.connect(new StdioServerTransport(toClient, toServer));
    return client;
  };
  return { ...made, connect };
}

export function httpTransport(
  url: string,
  token = TOKEN,
  headers: Readonly<Record<string, string>> = {},
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL("mcp", url), {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
  });
}

export function accept(content: Readonly<Record<string, unknown>>) {
  return { action: "accept", content };
}
