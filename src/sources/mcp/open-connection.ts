import type { McpServerConfig } from "../../config/mcp-server.js";
import { namesSecret } from "../../policy/secrets.js";
import type { SourceHost } from "../types.js";
import { type Connection, connectServer } from "./connect.js";
import { interpolated } from "./interpolate.js";
import type { ServerPins } from "./pins.js";
import { priorOf } from "./protocol-memory.js";
import type { RunningCall } from "./running-call.js";
import type { Sampling } from "./sampling.js";
import { ServerQuestions } from "./server-questions.js";

/** Connects to a server as its settings are at this moment: variables may have been set meanwhile. */
export async function openConnection(options: {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly host: SourceHost;
  readonly pins: ServerPins;
  readonly running: ReadonlySet<RunningCall>;
  /** Lasts longer than a connection: what a server may ask in a minute does not begin anew with each. */
  readonly sampling: Sampling | undefined;
  readonly signal: AbortSignal;
  readonly onStderr: (chunk: string) => void;
}): Promise<Connection> {
  const { name: server, host, running, sampling } = options;
  const config = interpolated(options.config, host.config.env);
  hideSecrets(server, config, host);
  const questions = new ServerQuestions({ server, config, host, running, sampling });
  return connectServer({
    server,
    config,
    host,
    prior: priorOf(options.pins.memory),
    signal: options.signal,
    onStderr: options.onStderr,
    capabilities: questions.capabilities,
    prepare: (client) => {
      questions.register(client);
      client.onerror = (error) => host.log.debug(`MCP server ${server}: ${error.message.slice(0, 300)}`);
    },
  });
}

/** Values that were put in for a server must not show up in what it writes. */
function hideSecrets(server: string, { env, headers }: McpServerConfig, { secrets }: SourceHost): void {
  for (const [name, value] of Object.entries(env)) if (namesSecret(name)) secrets.add(name, value);
  for (const [name, value] of Object.entries(headers)) {
    if (!namesSecret(name) && !/^(?:authorization|cookie)$/i.test(name)) continue;
    secrets.add(`${server} ${name}`, value.replace(/^(?:Bearer|Basic) /i, ""));
  }
}
