import { tookText } from "../base/human.js";
import { type RunningServer, runningServer } from "../runtime/running-server.js";
import { resolveToken } from "../server/token.js";
import { openSystemBrowser } from "../sources/mcp/oauth/callback-server.js";
import type { CommandContext } from "./context.js";
import { commandError, EXIT } from "./errors.js";
import { assertPerson } from "./person.js";

/** Whether a server of this home runs, and where. */
export async function status({ out, home }: CommandContext): Promise<void> {
  const server = await runningServer(home);
  if (out.json) out.value({ running: server !== undefined, home, ...server });
  else if (server === undefined) out.line(`No server runs for ${home}. Start one: hermes serve`);
  else {
    out.line(`${out.mark("ok")} ${server.url} (version ${server.version}, process ${server.pid})`);
    out.line(
      out.color.dim(`  up for ${tookText(Date.now() - server.started_at)}; hermes open shows its page`),
    );
  }
  if (server === undefined) process.exitCode = EXIT.unavailable;
}

/** Shows the page of the running server in the browser, with the token that lets this person in. */
export async function open(context: CommandContext): Promise<void> {
  assertPerson("The page is opened by a person", "Ask the person to run hermes open.");
  const { out, home } = context;
  const server = await needServer(home);
  const { values, paths } = await context.config();
  const token = await resolveToken({ configured: values.server.token, file: paths.serverToken });
  const address = new URL(server.url);
  address.searchParams.set("token", token.value);
  const shown = !out.json && context.options.browser !== false && (await openSystemBrowser(address));
  if (out.json) out.value({ url: server.url, page: address.href });
  else out.line(shown ? `${out.mark("ok")} ${server.url} is open in your browser` : address.href);
}

async function needServer(home: string): Promise<RunningServer> {
  const server = await runningServer(home);
  if (server !== undefined) return server;
  throw commandError("unavailable", `No server runs for ${home}`, "Start one: hermes serve");
}
