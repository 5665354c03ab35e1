import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from "playwright-core";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { ProxyTrouble } from "../../tool/fetch.js";
import type { CallContext } from "../../tool/tool.js";
import { firstLine } from "./explain-error.js";
import { judgeRequests } from "./judge-requests.js";
import { claimFolder } from "./reaper.js";
import { type BrowserSettings, browserSettings } from "./settings.js";
import { systemBrowser } from "./system-browser.js";

const CLOSING_MS = 3_000;

/** Whatever would speak past the proxy, or of its own accord. */
const ARGUMENTS = [
  "--disable-quic",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-domain-reliability",
  "--no-pings",
  "--no-first-run",
];

/** Of this process's variables, what a browser needs: none of its secrets. */
const VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TMP|TEMP|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_\w+|SystemRoot|ProgramFiles.*|LOCALAPPDATA|APPDATA|USERPROFILE)$/i;

export interface LaunchedBrowser {
  readonly context: BrowserContext;
  /** Never rejects. */
  close(): Promise<void>;
}

interface Launching {
  readonly ctx: CallContext;
  onTrouble(trouble: ProxyTrouble): void;
}

/** A browser of the session's own, or a context of its own in the one that `browser.cdp_url` names. */
export async function launchBrowser(launching: Launching): Promise<LaunchedBrowser> {
  const { ctx } = launching;
  const settings = browserSettings(ctx);
  const { chromium } = await ctx.load<typeof import("playwright-core")>("playwright-core");
  return settings.cdpUrl === ""
    ? startBrowser({ ...launching, chromium, settings })
    : attachTo({ ...launching, chromium, settings });
}

interface Starting extends Launching {
  readonly chromium: BrowserType;
  readonly settings: BrowserSettings;
}

const CONTEXT: BrowserContextOptions = {
  // Their requests would be nobody's: no page, no call.
  serviceWorkers: "block",
  acceptDownloads: true,
  viewport: { width: 1280, height: 800 },
};

async function startBrowser({ ctx, chromium, settings, onTrouble }: Starting): Promise<LaunchedBrowser> {
  const executablePath = systemBrowser(ctx);
  const folder = await claimFolder(join(ctx.cacheDir, "browsers"));
  const proxy = await ctx.openProxy({ onTrouble });
  const leave = async () => {
    await proxy.close();
    await folder.release().catch(() => undefined);
  };
  let context: BrowserContext;
  try {
    context = await chromium.launchPersistentContext(folder.profile, {
      ...CONTEXT,
      executablePath,
      headless: settings.headless,
      chromiumSandbox: settings.sandbox,
      args: ARGUMENTS,
      proxy: { server: proxy.url },
      downloadsPath: folder.downloads,
      artifactsDir: folder.downloads,
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => VARIABLES.test(name))),
      timeout: settings.timeoutMs,
    });
  } catch (error) {
    await leave();
    throw notStarted(executablePath, messageOf(error));
  }
  const pid = await browserPid(context.browser()).catch(() => undefined);
  if (pid !== undefined) folder.watch(pid);
  return {
    context,
    async close() {
      await inTime(context.close());
      await leave();
    },
  };
}

/** The browser belongs to somebody: of it, only what was opened here is used and closed. */
async function attachTo({ ctx, chromium, settings, onTrouble }: Starting): Promise<LaunchedBrowser> {
  const { cdpUrl, timeoutMs } = settings;
  let browser: Browser;
  try {
    browser = await chromium.connectOverCDP(cdpUrl, { timeout: timeoutMs });
  } catch (error) {
    throw new ToolError(`The browser at browser.cdp_url does not answer: ${firstLine(messageOf(error))}.`, {
      code: "unavailable",
      hint: "Start it with --remote-debugging-port, or empty browser.cdp_url to use one of this machine.",
    });
  }
  // A browser on another machine cannot reach a proxy on this one: then each request is judged as far as its address tells.
  const proxy = isHere(cdpUrl) ? await ctx.openProxy({ onTrouble }) : undefined;
  const context = await browser.newContext({ ...CONTEXT, ...(proxy && { proxy: { server: proxy.url } }) });
  if (proxy === undefined) await judgeRequests(context, { ctx, onTrouble });
  return {
    context,
    async close() {
      await inTime(context.close());
      await inTime(browser.close());
      await proxy?.close();
    },
  };
}

function isHere(address: string): boolean {
  return URL.canParse(address) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}

async function browserPid(browser: Browser | null): Promise<number | undefined> {
  const session = await browser?.newBrowserCDPSession();
  const answer = await session?.send("SystemInfo.getProcessInfo");
  await session?.detach();
  return answer?.processInfo.find(({ type }) => type === "browser")?.id;
}

function notStarted(program: string, message: string): ToolError {
  const jailed = /sandbox/i.test(message) && !/--no-sandbox/.test(message);
  const why =
    /(?:No usable sandbox|error while loading shared libraries|cannot open display|Missing X server)[^\n]*/i.exec(
      message,
    )?.[0] ?? firstLine(message);
  return new ToolError(`${program} could not be started: ${why}.`, {
    code: "unavailable",
    hint:
      jailed || /No usable sandbox/.test(message)
        ? "This machine forbids the browser's own sandbox; the operator can switch it off with browser.sandbox: off."
        : "Try `hermes setup browser --check`, or name another browser with browser.executable.",
  });
}

/** What does not close in time is ended by its folder's owner. */
async function inTime(closing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSING_MS);
  });
  await Promise.race([closing.catch(() => undefined), late]);
  clearTimeout(timer);
}
