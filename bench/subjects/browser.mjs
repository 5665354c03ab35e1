// A page opened and read: with bare playwright, and with the tools through a session. Both start the system's browser.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { oneByOne } from "../operations.mjs";
import { systemBrowser } from "../system-browser.mjs";

/** `url`: the page. `says`: what its snapshot must hold. `dist`: the build to measure; without, the bare library. */
export function open({ url, says, dist }) {
  const check = (snapshot) => {
    if (!snapshot.includes(says)) throw new Error(`no ${says} in ${snapshot.slice(0, 500)}`);
  };
  return dist === undefined ? bare(url, check) : tools({ url, check, dist });
}

async function bare(url, check) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: systemBrowser(),
    chromiumSandbox: process.getuid?.() !== 0,
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  return {
    operations: {
      open: oneByOne(async () => {
        await page.goto(url);
        check(await page.ariaSnapshot({ mode: "ai" }));
      }),
      again: oneByOne(async () => check(await page.ariaSnapshot({ mode: "ai" }))),
    },
    close: () => browser.close(),
  };
}

async function tools({ url, check, dist }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const work = join(home, "work");
  mkdirSync(work);
  writeFileSync(
    join(home, "config.yaml"),
    "approvals:\n  mode: off\nsecurity:\n  allowed_hosts: [127.0.0.1]\n",
  );
  const runtime = await createRuntime({
    home,
    cwd: work,
    systemDir: join(home, "system"),
    userTools: false,
    journal: false,
    env: { ...process.env, PATH: process.env.PATH },
  });
  const session = await runtime.openSession({});
  const snapshotBy = async (name, args) => {
    const result = await session.call({ name, arguments: args });
    if (!result.ok) throw new Error(JSON.stringify(result).slice(0, 1_000));
    return result.structured.snapshot;
  };
  // Starting the browser is not what is measured.
  check(await snapshotBy("browser_navigate", { url }));
  return {
    operations: {
      open: oneByOne(async () => check(await snapshotBy("browser_navigate", { url }))),
      again: oneByOne(async () => check(await snapshotBy("browser_snapshot", {}))),
      // Not timed: the answer is how many tokens a snapshot takes.
      tokens: async () => {
        const snapshot = await snapshotBy("browser_snapshot", {});
        check(snapshot);
        return atMostTokens(snapshot);
      },
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** No tokenizer is a dependency: every mark counts as one, digits by three, letters by six, which is more than they make of it. */
function atMostTokens(text) {
  let tokens = 0;
  for (const [part] of text.matchAll(/[A-Za-z]+|\d+|\n|[^\sA-Za-z\d]/g))
    tokens += Math.ceil(part.length / (/^\d/.test(part) ? 3 : 6));
  return tokens;
}
