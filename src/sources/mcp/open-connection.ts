import { pathToFileURL } from "node:url";
import type {
  Client,
  ClientCapabilities,
  DiscoverResult,
  PriorDiscovery,
} from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { namesSecret } from "../../policy/secrets.js";
import type { SourceHost } from "../types.js";
import { type Connection, connectServer } from "./connect.js";
import { answerElicitation } from "./elicitation.js";
import { interpolated } from "./interpolate.js";
import type { ServerMemory } from "./pin-rows.js";
import type { ServerPins } from "./pins.js";
import type { RunningCall } from "./running-call.js";
import type { Sampling } from "./sampling.js";
import type { ServerPrograms } from "./server-programs.js";

/** Connects to a server as its settings are at this moment: variables may have been set meanwhile. */
export async function openConnection(options: {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly host: SourceHost;
  readonly pins: ServerPins;
  readonly programs: ServerPrograms;
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
    programs: options.programs,
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

/** What a server may ask of us while a call runs: things to tell it, a model's answer, where the work is. */
class ServerQuestions {
  readonly #server: string;
  readonly #host: SourceHost;
  readonly #running: ReadonlySet<RunningCall>;
  readonly #sampling: Sampling | undefined;
  readonly #tellsRoots: boolean;

  constructor(options: {
    readonly server: string;
    readonly config: McpServerConfig;
    readonly host: SourceHost;
    readonly running: ReadonlySet<RunningCall>;
    /** Undefined when the server's entry does not let it ask a model. */
    readonly sampling: Sampling | undefined;
  }) {
    this.#server = options.server;
    this.#host = options.host;
    this.#running = options.running;
    this.#tellsRoots = options.config.roots;
    this.#sampling = options.sampling?.isOn === true ? options.sampling : undefined;
  }

  get capabilities(): ClientCapabilities {
    return {
      elicitation: { form: {}, url: {} },
      ...(this.#tellsRoots && { roots: {} }),
      ...(this.#sampling !== undefined && { sampling: {} }),
    };
  }

  register(client: Client): void {
    const sampling = this.#sampling;
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const call = this.#asker();
      if (call === undefined) return { action: "decline" };
      const ask = call.context.ask;
      return this.#whileWaiting(() => answerElicitation(params, { server: this.#server, ask }));
    });
    if (this.#tellsRoots)
      client.setRequestHandler("roots/list", () => ({ roots: this.#folders().map(rootOf) }));
    if (sampling !== undefined)
      client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) => {
        const call = this.#onlyCaller();
        return this.#whileWaiting(() =>
          sampling.answer(params, {
            signal: mcpReq.signal,
            onUsage: (usage, model) => call?.context.reportUsage(usage, model, "sampling"),
          }),
        );
      });
  }

  /** Any of the calls may be the one that waits, so the time of none of them runs. */
  #whileWaiting<Result>(work: () => Promise<Result>): Promise<Result> {
    const waiting = [...this.#running].reduce((inner, call) => () => call.whileWaiting(inner), work);
    return waiting();
  }

  /**
   * The call a question belongs to. The protocol does not say it: when calls of several sessions run, nobody is
   * asked, since it could be the wrong person.
   */
  #asker(): RunningCall | undefined {
    const call = this.#onlyCaller();
    if (call === undefined && this.#running.size > 0)
      this.#host.log.warn(
        `MCP server ${this.#server} asked something while calls of several sessions ran; declined`,
      );
    return call;
  }

  #onlyCaller(): RunningCall | undefined {
    const calls = [...this.#running];
    const sessions = new Set(calls.map(({ context }) => context.session.id));
    return sessions.size === 1 ? calls.at(-1) : undefined;
  }

  #folders(): readonly string[] {
    const folders = [...this.#running].map(({ context }) => context.session.workspace);
    return folders.length === 0 ? [this.#host.cwd] : [...new Set(folders)];
  }
}

function rootOf(folder: string): { uri: string; name: string } {
  return { uri: pathToFileURL(folder).href, name: folder };
}

/** A server may be brought up to date; after this time it is asked again which protocol it speaks. */
const OUTDATED_MS = 7 * 24 * 3_600_000;

/** What the SDK can be told beforehand, so that it need not find out by trying. */
function priorOf(memory: ServerMemory | undefined): PriorDiscovery | undefined {
  if (memory?.era === undefined || Date.now() - memory.eraAt > OUTDATED_MS) return undefined;
  if (memory.era === "legacy") return { kind: "legacy" };
  try {
    const discover: unknown = JSON.parse(memory.discover ?? "");
    return isRecord(discover) && Array.isArray(discover.supportedVersions)
      ? { kind: "modern", discover: discover as unknown as DiscoverResult }
      : undefined;
  } catch {
    return undefined;
  }
}

export function eraOf(client: Client): Pick<ServerMemory, "era" | "discover" | "eraAt"> {
  const discover = client.getDiscoverResult();
  return {
    era: client.getProtocolEra(),
    discover: discover === undefined ? undefined : JSON.stringify(discover),
    eraAt: Date.now(),
  };
}
