import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { unlessAborted } from "../../../base/deadline.js";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { browserSettings } from "../../browser/settings.js";
import { systemBrowser } from "../../browser/system-browser.js";
import type { DrawnChart } from "./render-vega.js";

/** Mermaid in one file, without the diagrams that need more libraries. */
const MERMAID_PACKAGE = "@mermaid-js/tiny";
const MERMAID_FILE = "dist/mermaid.tiny.js";
const TIMEOUT_MS = 30_000;
const DOTS = 2;

/** Draws a Mermaid diagram in a browser that reaches no network. */
export async function drawMermaid(request: {
  readonly code: string;
  readonly format: "png" | "svg";
  readonly dark: boolean;
  readonly background: string;
  readonly ctx: CallContext;
}): Promise<DrawnChart> {
  const { code, format, dark, background, ctx } = request;
  const { chromium } = await ctx.load<typeof import("playwright-core")>("playwright-core");
  const script = await readFile(join(ctx.packageFolder(MERMAID_PACKAGE), MERMAID_FILE), "utf8");
  const executablePath = systemBrowser(ctx);
  const starting = chromium.launch({
    executablePath,
    headless: true,
    // Where there is none: what runs in it reaches neither files nor the network.
    chromiumSandbox: browserSettings(ctx).sandbox,
    args: ["--disable-gpu", "--disable-dev-shm-usage"],
    timeout: TIMEOUT_MS,
  });
  const browser = await unlessAborted(starting, ctx.signal).catch((cause: unknown) => {
    // Nobody waits for a browser that is still starting; it is closed as soon as it is there.
    starting.then((late) => late.close()).catch(() => undefined);
    ctx.signal.throwIfAborted();
    throw new ToolError(`The browser ${executablePath} did not start: ${messageOf(cause).split("\n")[0]}.`, {
      code: "unavailable",
      hint: "Run `hermes setup browser`, then try again.",
      cause,
    });
  });
  const stop = () => void browser.close();
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    return await drawIn(browser, { code, format, dark, background, script });
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw error;
  } finally {
    ctx.signal.removeEventListener("abort", stop);
    await browser.close();
  }
}

async function drawIn(
  browser: Browser,
  drawing: {
    readonly code: string;
    readonly format: "png" | "svg";
    readonly dark: boolean;
    readonly background: string;
    readonly script: string;
  },
): Promise<DrawnChart> {
  const { code, format, dark, background, script } = drawing;
  const context = await browser.newContext({
    deviceScaleFactor: DOTS,
    offline: true,
    serviceWorkers: "block",
    viewport: { width: 1_600, height: 1_200 },
  });
  await context.route("**/*", (route) => route.abort());
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.setContent(
    `<!doctype html><body style="margin:0;background:${background}"><div id="chart" style="display:inline-block;padding:20px"></div></body>`,
  );
  await page.addScriptTag({ content: script });
  // Runs in the page, where there is a document.
  const drawn = (await page.evaluate(
    `(async ({ code, theme }) => {
      mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme, htmlLabels: false, flowchart: { htmlLabels: false, useMaxWidth: false } });
      try {
        const { svg } = await mermaid.render("diagram", code);
        const place = document.getElementById("chart");
        place.innerHTML = svg;
        const element = place.querySelector("svg");
        const { width, height } = element.viewBox.baseVal;
        element.style.maxWidth = "none";
        element.setAttribute("width", Math.ceil(width));
        element.setAttribute("height", Math.ceil(height));
        return { svg: new XMLSerializer().serializeToString(element), width: Math.ceil(width), height: Math.ceil(height) };
      } catch (error) {
        return { problem: String(error && error.message || error) };
      }
    })(${JSON.stringify({ code, theme: dark ? "dark" : "default" })})`,
  )) as
    | { readonly svg: string; readonly width: number; readonly height: number }
    | { readonly problem: string };
  if ("problem" in drawn) {
    throw new ToolError(`The diagram could not be drawn: ${drawn.problem}`, {
      code: "invalid_arguments",
      hint: "Check the code against https://mermaid.js.org/intro/syntax-reference.html.",
    });
  }
  if (format === "svg") return { bytes: Buffer.from(drawn.svg), width: drawn.width, height: drawn.height };
  const bytes = await page.locator("#chart").screenshot({ type: "png" });
  // The size of a PNG stands in its first bytes.
  return { bytes, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}
