import type { BrowserContext } from "playwright-core";
import type { ProxyTrouble } from "../../tool/fetch.js";
import type { CallContext } from "../../tool/tool.js";

/**
 * For a browser that no proxy of ours can serve: every request and WebSocket of the context is judged by its address.
 * Where names lead is decided by the network of that browser, which is not this machine's.
 */
export async function judgeRequests(
  context: BrowserContext,
  { ctx, onTrouble }: { readonly ctx: CallContext; onTrouble(trouble: ProxyTrouble): void },
): Promise<void> {
  const refusal = (url: string): string | undefined => {
    const reason = /^https?:/i.test(url)
      ? ctx.refusal({ action: "network:fetch", resource: url, mode: "read" })
      : "only http and https addresses are fetched";
    if (reason === undefined) return undefined;
    const { hostname = "", port = "" } = URL.canParse(url) ? new URL(url) : {};
    onTrouble({ host: hostname, port: Number(port), blocked: true, reason });
    return reason;
  };
  await context.route(/.*/, (route) =>
    refusal(route.request().url()) === undefined ? route.continue() : route.abort("blockedbyclient"),
  );
  await context.routeWebSocket(/.*/, (socket) => {
    const reason = refusal(socket.url().replace(/^ws/i, "http"));
    if (reason === undefined) socket.connectToServer();
    else void socket.close({ code: 1008 });
  });
}
