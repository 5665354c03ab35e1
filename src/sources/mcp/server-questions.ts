import { pathToFileURL } from "node:url";
import type { Client, ClientCapabilities } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../../config/mcp-server.js";
import type { SourceHost } from "../types.js";
import { answerElicitation } from "./elicitation.js";
import type { RunningCall } from "./running-call.js";
import { Sampling } from "./sampling.js";

/** What a server may ask of us while a call runs: things to tell it, a model's answer, where the work is. */
export class ServerQuestions {
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
  }) {
    this.#server = options.server;
    this.#host = options.host;
    this.#running = options.running;
    this.#tellsRoots = options.config.roots;
    const { mcp } = options.host.config.values;
    this.#sampling = mcp.sampling && options.config.sampling ? new Sampling(mcp) : undefined;
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
      return call.whileWaiting(() => answerElicitation(params, { server: this.#server, ask }));
    });
    if (this.#tellsRoots)
      client.setRequestHandler("roots/list", () => ({ roots: this.#folders().map(rootOf) }));
    if (sampling !== undefined)
      client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) => {
        const work = () => sampling.answer(params, mcpReq.signal);
        const call = this.#asker();
        return call === undefined ? work() : call.whileWaiting(work);
      });
  }

  /**
   * The call a question belongs to. The protocol does not say it: when calls of several sessions run, nobody is
   * asked, since it could be the wrong person.
   */
  #asker(): RunningCall | undefined {
    const calls = [...this.#running];
    const sessions = new Set(calls.map(({ context }) => context.session.id));
    if (sessions.size > 1)
      this.#host.log.warn(
        `MCP server ${this.#server} asked something while calls of several sessions ran; declined`,
      );
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
