import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, createRuntime, ToolRegistry } from "../../../src/index.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { login } from "../../../src/sources/mcp/oauth/login.js";
import { callbackUrl } from "../../../src/sources/mcp/oauth/settings.js";
import type { McpServerStatus, McpSource } from "../../../src/sources/mcp/source.js";

export interface Scenario {
  readonly scenario: string;
  readonly url: string;
  /** Credentials the suite hands out. */
  readonly context: Readonly<Record<string, string>>;
}

const SERVER = "suite";
/** The variable that holds the suite's secret or private key. */
const SECRET = "SUITE_SECRET";
/** The suite's own id of a client that is described by a document. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
/** Nobody logs in for ever. */
const MOST_LOGINS = 5;

/** Does what a person would: adds the server, logs in when told to, calls each tool it offers. */
export async function playScenario(given: Scenario): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-conformance-"));
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ mcp_servers: { [SERVER]: serverOf(given) } }));
  const runtime = await createRuntime({
    home,
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      [SECRET]: given.context.client_secret ?? given.context.private_key_pem,
    },
    systemDir: join(home, "none"),
    registry: new ToolRegistry(),
    builtins: false,
    journal: false,
    yolo: true,
    logger: createLogger({ sink: () => undefined }),
  });
  try {
    await use(runtime);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function serverOf({ url, scenario, context }: Scenario): Readonly<Record<string, unknown>> {
  const { client_id: id } = context;
  return {
    url,
    connect_timeout: 20,
    ...(scenario.startsWith("auth/") && { auth: "oauth" }),
    ...(scenario === "auth/basic-cimd" && { oauth_client_id: CLIENT_DOCUMENT }),
    ...(id !== undefined && { oauth_client_id: id, oauth_client_secret: `\${${SECRET}}` }),
  };
}

async function use(runtime: Runtime): Promise<void> {
  const source = runtime.sources.get("mcp") as McpSource;
  let logins = 0;
  const logIn = async () => {
    logins += 1;
    if (logins > MOST_LOGINS) throw new Error("one login after the other is asked for");
    await logInTo(runtime);
  };
  let status = await source.test(SERVER);
  while (needsLogin(status?.fix)) {
    await logIn();
    status = await source.reconnect(SERVER);
  }
  if (status?.state !== "ready") throw new Error(`${status?.state}: ${status?.reason}`);
  const session = await runtime.openSession({ ask: async () => "" });
  for (const name of status.tools) {
    for (;;) {
      const result = await session.call({ id: "call", name, arguments: argumentsFor(name) });
      if (result.ok) break;
      const { message, hint } = result.error ?? { message: "it failed", hint: undefined };
      if (!needsLogin(`${message} ${hint}`)) throw new Error(message);
      await logIn();
    }
  }
}

function needsLogin(text: McpServerStatus["fix"]): boolean {
  return text?.includes("hermes mcp login") === true;
}

function argumentsFor(tool: string): Readonly<Record<string, unknown>> {
  return tool.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
}

/** A person who agrees at once; the suite's login page redirects without asking. */
async function logInTo(runtime: Runtime): Promise<void> {
  const config = runtime.config.values.mcp_servers[SERVER];
  if (config === undefined) throw new Error("the server has gone");
  await login({
    settings: { server: SERVER, config, host: runtime },
    openBrowser: async () => ({
      redirectUrl: callbackUrl(27_890),
      async visit(address) {
        const response = await fetch(address, { redirect: "manual" });
        const location = response.headers.get("location");
        if (location === null) throw new Error(`the login page answered ${response.status}`);
        return new URL(location, address);
      },
    }),
  });
}
