import { visible } from "../base/visible-text.js";
import { setConfigValue } from "../config/edit.js";
import { login } from "../sources/mcp/oauth/login.js";
import { logout } from "../sources/mcp/oauth/logout.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import { openLoginBrowser } from "./mcp-login-browser.js";
import { configuredServer, withServers } from "./mcp-servers.js";

const PATIENCE_SECONDS = 300;

export async function run(
  context: CommandContext,
  [name = ""]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out, home, flags } = context;
  await withServers(context, async ({ runtime }) => {
    const { config } = runtime;
    const server = configuredServer(config, name);
    if (server.url === "")
      throw new HermesError(
        failure(
          "bad_request",
          `${name} is a program of this machine, it has no login here`,
          "See its own manual.",
        ),
      );
    const { interpolated } = await import("../sources/mcp/interpolate.js");
    const settings = { server: name, config: interpolated(server, config.env), host: runtime };
    if (options.logout === true) {
      const done = await logout(settings);
      if (out.json) out.value({ name, logged_out: done.forgotten, revoked: done.revoked });
      else
        out.line(
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
        throw new HermesError(
          failure("timeout", `nobody logged in within ${seconds} s`, "Start the login again."),
        );
      if (error instanceof HermesError) throw error;
      const { message } = describeThrown(error);
      const said = `the login at ${name} failed: ${runtime.secrets.redact(visible(message))}`;
      out.fail(
        failure("failed", said),
        message.includes("fetch failed") ? EXIT.unreachable : EXIT.authentication,
      );
    } finally {
      await browser.close();
    }
  });
}
