import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../base/errno.js";
import type { LoadedConfig } from "../../config/types.js";
import { browsersFolder, findBrowser } from "../../env/find-browser.js";
import { proxyVariables } from "../../net/process-proxy.js";
import { packageFolder } from "../../runtime/packages/find.js";
import { checkPackages, installPackages, type SetupItem } from "../../runtime/packages/install.js";
import { OPTIONAL_PACKAGES } from "../../runtime/packages/wanted.js";
import type { CommandContext } from "../context.js";
import { reportItems } from "./items.js";

const VERSION_MS = 15_000;
const ANSWER_MS = 5_000;
const LAST_LINES = 3;

/** What the browser tools need: the library that drives a browser, and a browser. */
export async function setupBrowser(context: CommandContext): Promise<void> {
  const { home, out, options } = context;
  const config = await context.config();
  const packages = OPTIONAL_PACKAGES.filter(({ name }) => name === "playwright-core");
  if (options.check === true)
    return reportItems(context, [...checkPackages(home, packages), await foundBrowser(config, home)]);
  const installed = await installPackages({
    home,
    packages: keptPackages(home),
    onProgress: (text) => out.note(text),
  });
  const library = installed.filter(({ what }) => what === "playwright-core");
  const found = await foundBrowser(config, home);
  const isNamed = config.values.browser.cdp_url !== "" || config.values.browser.executable !== "";
  const browser =
    found.state === "present" || isNamed
      ? found
      : await fetchedBrowser({ config, home, say: (text) => out.note(text) });
  reportItems(context, [...library, browser]);
}

/** npm takes away what is not named: those that an earlier set-up brought stay. */
function keptPackages(home: string) {
  const present = new Set(
    checkPackages(home).flatMap(({ what, state }) => (state === "present" ? [what] : [])),
  );
  return OPTIONAL_PACKAGES.filter(({ name }) => name === "playwright-core" || present.has(name));
}

async function foundBrowser({ values, env }: LoadedConfig, home: string): Promise<SetupItem> {
  const { cdp_url, executable } = values.browser;
  if (cdp_url !== "") return answering(cdp_url);
  const path = findBrowser({ executable, env, home });
  if (path === undefined)
    return {
      what: "browser",
      state: "missing",
      fix: executable === "" ? "hermes setup browser" : "hermes config set browser.executable ''",
      detail:
        executable === ""
          ? "no Chromium, Chrome or Edge"
          : `browser.executable names no program: ${executable}`,
    };
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: VERSION_MS });
    return { what: "browser", state: "present", detail: `${stdout.trim()}: ${path}` };
  } catch (error) {
    return {
      what: "browser",
      state: "failed",
      fix: systemPackage(),
      detail: `${path} does not start: ${messageOf(error).split("\n")[0] ?? ""}`,
    };
  }
}

/** A browser that runs already, which the operator has named. */
async function answering(address: string): Promise<SetupItem> {
  const what = "browser";
  if (!/^https?:/.test(address)) return { what, state: "present", detail: `${address}, not tried` };
  try {
    const response = await fetch(new URL("/json/version", address), {
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { Browser } = (await response.json()) as { Browser?: string };
    return { what, state: "present", detail: `${Browser ?? "answers"}: ${address}` };
  } catch (error) {
    return {
      what,
      state: "missing",
      fix: "hermes config set browser.cdp_url ''",
      detail: `nothing answers at browser.cdp_url (${address}): ${messageOf(error)}`,
    };
  }
}

/** The browser that the library's own makers publish, into the Hermes home. */
async function fetchedBrowser(options: {
  readonly config: LoadedConfig;
  readonly home: string;
  say(text: string): void;
}): Promise<SetupItem> {
  const { config, home } = options;
  const library = packageFolder("playwright-core", home);
  const failed = (detail: string): SetupItem => ({
    what: "browser",
    state: "failed",
    fix: systemPackage(),
    detail,
  });
  if (library === undefined) return failed("the library that fetches it is missing");
  const folder = browsersFolder(home);
  options.say(`fetching Chromium, about 170 MB, into ${folder}`);
  const trouble = await runInstaller(join(library, "cli.js"), folder).catch(messageOf);
  if (trouble !== undefined) return failed(trouble);
  const found = await foundBrowser(config, home);
  return found.state === "present" ? { ...found, state: "installed" } : found;
}

/** Resolves to what it said when it failed. */
function runInstaller(program: string, folder: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const installer = spawn(process.execPath, [program, "install", "--no-shell", "chromium"], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, ...proxyVariables(), PLAYWRIGHT_BROWSERS_PATH: folder },
    });
    let said = "";
    installer.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
    installer.once("error", reject);
    installer.once("close", (code) =>
      resolve(code === 0 ? undefined : `it could not be fetched: ${reasonIn(said)}`),
    );
  });
}

/** The last error of many tries says most; what follows it is a trace. */
function reasonIn(said: string): string {
  const errors = [...said.matchAll(/Error: (?!Failed to download|Download failure)([^\n]+)/g)].map(
    ([, reason = ""]) => reason.trim().replace(/\.$/, ""),
  );
  return errors.at(-1) ?? said.trim().split("\n").slice(-LAST_LINES).join(" ");
}

/** How this system brings a browser by itself. */
function systemPackage(): string {
  if (process.platform === "darwin") return "brew install --cask chromium";
  if (process.platform === "win32") return "winget install Google.Chrome";
  return "sudo apt-get install chromium";
}
