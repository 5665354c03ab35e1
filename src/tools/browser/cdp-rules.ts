import { isRecord } from "../../base/record.js";
import type { CallContext } from "../../tool/tool.js";

/** About the page itself. What is not here steers the browser, its files, its network or other people's tabs. */
const DOMAINS = new Set(
  (
    "Accessibility Animation Audits CSS DOM DOMDebugger DOMSnapshot DOMStorage Emulation Input LayerTree Log Media " +
    "Network Overlay Page Performance PerformanceTimeline Profiler Runtime Schema Storage WebAudio WebAuthn"
  ).split(" "),
);

/** Within those, what reaches beyond the page. */
const CLOSED: Readonly<Record<string, string>> = {
  "DOM.setFileInputFiles": "files are chosen with browser_type, which asks whether they may be read",
  "DOM.getFileInfo": "it tells of files of this machine",
  "Page.setDownloadBehavior": "downloads go into the workspace",
  "Page.close": "tabs are closed with browser_back",
  "Page.crash": "it ends the page",
  "Page.handleJavaScriptDialog": "dialogs are answered with browser_dialog",
  "Page.setInterceptFileChooserDialog": "files are chosen with browser_type",
  "Network.setRequestInterception": "requests are judged elsewhere",
  "Network.loadNetworkResource": "addresses are fetched with http_request",
  "Runtime.addBinding": "it opens a way from the page to here",
};

/** Why a command of the protocol is not sent; undefined when it may be. */
export function refusedCommand(
  method: string,
  params: unknown,
  ctx: Pick<CallContext, "refusal">,
): string | undefined {
  const [domain = ""] = method.split(".", 1);
  const own = Object.hasOwn(CLOSED, method) ? CLOSED[method] : undefined;
  if (own !== undefined) return own;
  if (!DOMAINS.has(domain)) return `${domain} is not about the page: ${[...DOMAINS].join(", ")} are`;
  for (const url of addressesIn(params, 0)) {
    const reason = refusedAddress(url, ctx);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Commands navigate with rights that no page has: what they name is judged as browser_navigate would. */
function refusedAddress(url: string, ctx: Pick<CallContext, "refusal">): string | undefined {
  if (url === "" || url === "about:blank") return undefined;
  if (!/^https?:\/\//i.test(url)) return `${JSON.stringify(url.slice(0, 100))} is no http or https address`;
  return ctx.refusal({ action: "network:fetch", resource: url, mode: "read" });
}

function addressesIn(value: unknown, depth: number): readonly string[] {
  if (depth > 5) return [];
  if (Array.isArray(value)) return value.flatMap((inner) => addressesIn(inner, depth + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string"
      ? /^(?:url|origin|referrer)$/i.test(name)
        ? [inner]
        : []
      : addressesIn(inner, depth + 1),
  );
}
