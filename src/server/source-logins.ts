import { deferred } from "../base/deferred.js";
import { setConfigValue } from "../config/edit.js";
import type { Runtime } from "../runtime/runtime.js";
import type { McpSource } from "../sources/mcp/source.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { settingsTaken } from "./dashboard/settings-edit.js";
import type { SourceLogin } from "./dashboard-types.js";
import { isProblem, notFound, type Problem, problemOfThrown } from "./problem.js";

const PATIENCE_MS = 300_000;

interface OpenLogin {
  state: SourceLogin;
  readonly stop: AbortController;
  /** Takes the address that a browser elsewhere ended at; throws what is wrong with it. */
  answer: ((address: URL) => void) | undefined;
}

/** Logins at MCP servers that were begun on the page: at most one for each server, over when the server is. */
export class SourceLogins {
  readonly #runtime: Runtime;
  readonly #logins = new Map<string, OpenLogin>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  stateOf(name: string): SourceLogin | undefined {
    return this.#logins.get(name)?.state;
  }

  /** Resolves when the person can be sent to a page, or when none is needed any more. */
  async begin(name: string): Promise<SourceLogin | Problem> {
    const { config } = this.#runtime;
    const server = Object.hasOwn(config.values.mcp_servers, name)
      ? config.values.mcp_servers[name]
      : undefined;
    if (server === undefined)
      return notFound(`No MCP server is called ${name.slice(0, 80)}.`, "GET /v1/sources lists them.");
    if (server.url === "")
      return {
        status: 400,
        code: "bad_request",
        message: `${name} is a program of this machine, it has no login here.`,
        hint: "See its own manual.",
      };
    this.#logins.get(name)?.stop.abort();
    const begun: OpenLogin = { state: { login: "waiting" }, stop: new AbortController(), answer: undefined };
    this.#logins.set(name, begun);
    const shown = deferred<void>();
    const over = this.#run(name, begun, () => shown.resolve());
    await Promise.race([shown.promise, over]);
    return begun.state;
  }

  /** For a browser on another machine, which does not find the way back by itself. */
  answer(name: string, address: string): SourceLogin | Problem {
    const open = this.#logins.get(name);
    if (open?.answer === undefined || open.state.login !== "waiting")
      return notFound("No login waits for an answer.", "Begin it again.");
    if (!URL.canParse(address))
      return { status: 400, code: "bad_request", message: "That is no address.", hint: "Copy all of it." };
    try {
      open.answer(new URL(address));
    } catch (error) {
      return { ...problemOfThrown(error), status: 400 };
    }
    return open.state;
  }

  close(): void {
    for (const { stop } of this.#logins.values()) stop.abort();
    this.#logins.clear();
  }

  async #run(name: string, open: OpenLogin, onShown: () => void): Promise<void> {
    const [{ login, answerOf }, { openCallbackServer }, { CALLBACK_PORTS, callbackUrl }, { interpolated }] =
      await Promise.all([
        import("../sources/mcp/oauth/login.js"),
        import("../sources/mcp/oauth/callback-server.js"),
        import("../sources/mcp/oauth/settings.js"),
        import("../sources/mcp/interpolate.js"),
      ]);
    const runtime = this.#runtime;
    const { config } = runtime;
    const server = config.values.mcp_servers[name];
    if (server === undefined) return;
    const signal = AbortSignal.any([open.stop.signal, AbortSignal.timeout(PATIENCE_MS)]);
    let callback: Awaited<ReturnType<typeof openCallbackServer>> | undefined;
    try {
      await login({
        settings: { server: name, config: interpolated(server, config.env), host: runtime },
        signal,
        openBrowser: async () => {
          // Without a port the address can still be pasted.
          callback = await openCallbackServer().catch(() => undefined);
          return {
            redirectUrl: callback?.redirectUrl ?? callbackUrl(CALLBACK_PORTS[0]),
            visit: (address, state) => {
              const pasted = deferred<URL>();
              open.answer = (given) => {
                answerOf(given, state);
                pasted.resolve(given);
              };
              open.state = { login: "waiting", open: address.href, at: address.host };
              onShown();
              const ways = [pasted.promise, aborted(signal)];
              if (callback !== undefined) ways.push(callback.wait(state));
              return Promise.race(ways);
            },
          };
        },
      });
      // Without it the tokens would not be used.
      if (server.auth === "none") {
        const taken = await settingsTaken(runtime, (home) =>
          setConfigValue({ home, key: `mcp_servers.${name}.auth`, value: "oauth" }),
        );
        if (isProblem(taken)) throw new HermesError(failure("failed", taken.message, taken.hint));
      }
      await (runtime.sources.get("mcp") as McpSource | undefined)?.reconnect(name);
      open.state = { login: "done" };
    } catch (error) {
      open.state = { login: "failed", why: this.#why(error, signal) };
    } finally {
      await callback?.close();
    }
  }

  #why(error: unknown, signal: AbortSignal): string {
    if (signal.aborted) return `Nobody logged in within ${PATIENCE_MS / 1000} s.`;
    return this.#runtime.redact(describeThrown(error).message);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
