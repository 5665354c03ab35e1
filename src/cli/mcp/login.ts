import { visible } from "../../base/visible-text.js";
import { setConfigValue } from "../../config/edit.js";
import {
  type CallbackServer,
  openCallbackServer,
  openSystemBrowser,
} from "../../sources/mcp/oauth/callback-server.js";
import { answerOf, type Browser, login } from "../../sources/mcp/oauth/login.js";
import { logout } from "../../sources/mcp/oauth/provider.js";
import { CALLBACK_PORTS, callbackUrl } from "../../sources/mcp/oauth/settings.js";
import { failure, HermesError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { jsonLine, type Output } from "../output.js";
import { configuredServer, withServers } from "./servers.js";

const PATIENCE_SECONDS = 300;

export async function logIn(context: CommandContext): Promise<void> {
  const { out, home, flags, options } = context;
  const [name = ""] = context.args;
  await withServers(context, async ({ runtime }) => {
    const { config } = runtime;
    const server = configuredServer(config, name);
    if (server.url === "")
      throw commandError(
        "bad_request",
        `${name} is a program of this machine, it has no login here`,
        "See its own manual.",
      );
    const { interpolated } = await import("../../sources/mcp/interpolate.js");
    const settings = { server: name, config: interpolated(server, config.env), host: runtime };
    if (options.logout === true) {
      const done = await logout(settings);
      out.result(
        { name, logged_out: done.forgotten, revoked: done.revoked },
        done.forgotten ? `${out.mark("ok")} logged out of ${name}` : `there was no login at ${name}`,
      );
      return;
    }
    const seconds = Number(flags.timeout ?? PATIENCE_SECONDS);
    const patience = AbortSignal.timeout((seconds > 0 ? seconds : PATIENCE_SECONDS) * 1000);
    const browser = openLoginBrowser({ out, paste: options.browser === false, patience });
    try {
      const outcome = await login({ settings, openBrowser: browser.open, signal: patience });
      // Without it the tokens would not be used.
      if (server.auth === "none") {
        const written = await setConfigValue({ home, key: `mcp_servers.${name}.auth`, value: "oauth" });
        if (!written.ok) throw new HermesError(written);
      }
      if (out.json)
        out.value({
          name,
          logged_in: true,
          as: outcome.kind,
          authorization_server: outcome.authorizationServer,
          scope: outcome.scope ?? null,
          expires_at: outcome.expiresAt === undefined ? null : new Date(outcome.expiresAt).toISOString(),
          refreshable: outcome.refreshable,
        });
      else out.line(`${out.mark("ok")} logged in to ${name}`);
    } catch (error) {
      if (patience.aborted)
        throw commandError("timeout", `nobody logged in within ${seconds} s`, "Start the login again.");
      if (error instanceof HermesError) throw error;
      const { message } = describeThrown(error);
      const said = `the login at ${name} failed: ${runtime.redact(visible(message))}`;
      out.fail(
        failure("failed", said),
        message.includes("fetch failed") ? EXIT.unreachable : EXIT.authentication,
      );
    } finally {
      await browser.close();
    }
  });
}

interface LoginBrowser {
  open(): Promise<Browser>;
  close(): Promise<void>;
}

/** The person's browser here, or with `paste` one on another machine, whose last address is pasted. */
export function openLoginBrowser(options: {
  readonly out: Output;
  readonly paste: boolean;
  readonly patience: AbortSignal;
}): LoginBrowser {
  const { out, paste, patience } = options;
  let server: CallbackServer | undefined;
  const stop = new AbortController();
  return {
    async open() {
      // What is pasted comes by no port, so it does not matter when all of them are taken.
      server = await openCallbackServer().catch((error: unknown) => {
        if (paste) return undefined;
        throw error;
      });
      return {
        redirectUrl: server?.redirectUrl ?? callbackUrl(CALLBACK_PORTS[0]),
        async visit(address, state) {
          const ways = [abortOf(patience), ...(server === undefined ? [] : [server.wait(state)])];
          show(out, address, paste);
          if (paste) ways.push(pasted(state, stop.signal));
          else if (!(await openSystemBrowser(address)))
            out.note("No browser could be opened here; open the address yourself.");
          return Promise.race(ways);
        },
      };
    },
    async close() {
      stop.abort();
      await server?.close();
    },
  };
}

/** Also when a program reads: without the address nobody can log in. */
function show(out: Output, address: URL, paste: boolean): void {
  if (out.json) {
    process.stderr.write(jsonLine({ open: address.href }));
    return;
  }
  process.stderr.write(`Log in here:\n\n  ${address.href}\n\n`);
  if (paste)
    process.stderr.write("Then paste the address the browser ends at (the page itself may not load):\n");
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Lines of standard input until one is an answer to this login. */
async function pasted(state: string, stop: AbortSignal): Promise<URL> {
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: process.stdin, terminal: false });
  const close = () => reader.close();
  stop.addEventListener("abort", close, { once: true });
  try {
    for await (const line of reader) {
      const text = line.trim();
      if (text === "") continue;
      if (!URL.canParse(text)) {
        process.stderr.write("That is no address; copy all of it.\n");
        continue;
      }
      // Throws what is wrong with it.
      answerOf(new URL(text), state);
      return new URL(text);
    }
  } finally {
    close();
    process.stdin.pause();
  }
  // The end of the input is no answer; the browser may still come back by itself.
  return new Promise(() => undefined);
}
