// @needs chromium
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, describe, expect, it } from "vitest";
import { reap } from "../../../src/tools/browser/reaper.js";
import { BrowserSession } from "../../../src/tools/browser/session.js";
import { onTestEnd, tempDir } from "../../support/runtime.js";
import { makeContext } from "../context.js";
import { startSite } from "../network/site.js";
import { openBrowsing } from "./browsing.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Every process that was started with something below this folder. */
function browsersOf(folder: string): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "latin1");
      return line.includes(folder) && !line.includes("keep-watch") && !line.includes("hold-browser")
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

async function until(condition: () => boolean, ms = 20_000): Promise<boolean> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (condition()) return true;
    await delay(50);
  }
  return condition();
}

describe("no browser outlives its session (lesson 41)", { timeout: 120_000 }, () => {
  it("closing the session ends the browser and leaves nothing of it", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const { get, home, close } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect(browsersOf(home).length).toBeGreaterThan(0);
    await close();
    expect(await until(() => browsersOf(home).length === 0)).toBe(true);
    expect(await until(() => readdirSync(join(home, "cache", "browsers")).length === 0)).toBe(true);
  });

  it("kill -9 of its owner ends it too, and its folder goes", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const cache = tempDir();
    const { owner, isReady } = await holdBrowser(`${site.base}/`, cache);
    expect(await isReady).toBe("Here");
    expect(browsersOf(cache).length).toBeGreaterThan(0);
    owner.kill("SIGKILL");
    expect(await until(() => browsersOf(cache).length === 0)).toBe(true);
    expect(await until(() => readdirSync(join(cache, "browsers")).length === 0)).toBe(true);
  });

  it("what somebody left behind is ended by the next who needs a browser; those of others are spared", async () => {
    const cache = tempDir();
    const folder = join(cache, "browsers", "left-behind");
    const profile = join(folder, "profile");
    mkdirSync(profile, { recursive: true });
    writeFileSync(join(folder, "owner"), "boot.1.1.abcd");
    const start = (userData: string) => {
      const one = spawn("sleep", ["300"], { argv0: `sleep --user-data-dir=${userData}`, detached: true });
      onTestEnd(() => void one.kill("SIGKILL"));
      return one;
    };
    const orphan = start(profile);
    const foreign = start(join(cache, "somebody-elses"));
    const ended = new Promise((resolve) => orphan.once("exit", resolve));
    await reap(join(cache, "browsers"));
    await ended;
    expect(existsSync(folder)).toBe(false);
    expect(foreign.exitCode).toBeNull();
    expect(foreign.signalCode).toBeNull();
  });

  it("a browser that dies is an error with a way on, not a dead session", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const { get, call, home } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    for (const pid of browsersOf(home)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Went with another one.
      }
    }
    const said = async () => {
      const { error } = await call("snapshot");
      return `${error?.message} ${error?.hint}`;
    };
    // The first call may still meet the page as it goes.
    expect(await said()).toMatch(/browser_navigate/);
    await expect.poll(said, { timeout: 20_000 }).toMatch(/ended unexpectedly.*browser_navigate/);
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({ title: "Here" });
  });

  it("a page that crashes is an error with a way on", async () => {
    const site = await startSite({ "/": "<title>Here</title><button>Go</button>" });
    const { get, call, home, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    const button = await ref("Go");
    for (const pid of browsersOf(home)) {
      if (readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer"))
        process.kill(pid, "SIGKILL");
    }
    const { error } = await call("click", { ref: button });
    expect(`${error?.message} ${error?.hint}`).toMatch(/crashed.*browser_navigate/);
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({ title: "Here" });
  });

  it("closes when nobody uses it, and says so", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const ctx = makeContext({
      settings: { allowed_hosts: ["127.0.0.1"], browser: { idle_seconds: 0.4 } },
    });
    onTestEnd(() => ctx.cleanUp());
    const { navigate } = await import("../../../src/tools/browser/navigate.js");
    expect(await navigate(`${site.base}/`, ctx)).toMatchObject({ title: "Here" });
    expect(await until(() => browsersOf(ctx.folder).length === 0)).toBe(true);
    await expect(ctx.keep(BrowserSession).use(ctx, {}, async () => 1)).rejects.toThrow(
      /closed after 0 s without use/,
    );
    expect(await navigate(`${site.base}/`, ctx)).toMatchObject({ title: "Here" });
  });

  it("two sessions have two browsers and two sets of cookies (lessons 42, 43)", async () => {
    const site = await startSite({
      "/": "<script>document.title = document.cookie || 'none'; document.cookie = 'me=' + Math.random()</script>",
    });
    const [one, two] = await Promise.all([openBrowsing(), openBrowsing()]);
    const titles = await Promise.all(
      [one, two].map((each) => each.get("navigate", { url: `${site.base}/` })),
    );
    expect(titles.map(({ title }) => title)).toEqual(["none", "none"]);
    expect((await one.get("navigate", { url: `${site.base}/` })).title).toMatch(/^me=/);
  });

  it("a call that is cancelled ends at once and the next one goes on", async () => {
    const site = await startSite({ "/": "<title>Here</title>", "/slow": () => undefined });
    const { get, call } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    const stop = new AbortController();
    const opening = call("navigate", { url: `${site.base}/slow` }, stop.signal);
    expect(await until(() => site.seen.includes("GET /slow"))).toBe(true);
    stop.abort();
    // The server never answers: without the signal this ended with the time limit.
    expect((await opening).error?.code).toBe("cancelled");
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({ title: "Here" });
  });

  it("a browser that runs already is used in a context of its own", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const port = await startForeignBrowser();
    const { get, call, close } = await openBrowsing({ "browser.cdp_url": `http://127.0.0.1:${port}` });
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({ title: "Here" });
    expect((await call("navigate", { url: "http://127.0.0.2:9/" })).ok).toBe(false);
    await close();
    const openPages = async () => {
      const listed = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { url: string }[];
      return listed.map(({ url }) => url).filter((url) => !url.startsWith("chrome:"));
    };
    // What was opened here is closed, what was there stays.
    await expect.poll(openPages, { timeout: 20_000 }).toEqual(["about:blank"]);
  });

  it("of a browser elsewhere, which no proxy of ours can serve, each request is judged by its address", async () => {
    const secret = await startSite({ "/": "the keys of the house" });
    const closed = secret.base.replace("127.0.0.1", "127.0.0.2");
    const site = await startSite({
      "/": `<title>Trap</title><iframe src="${closed}/frame"></iframe><img src="${closed}/image"><script>
        const worker = new Worker(URL.createObjectURL(new Blob(["fetch('${closed}/worker').catch(() => 0)"])));
        const socket = new WebSocket("${closed.replace("http", "ws")}/socket");
        socket.onerror = socket.onclose = () => fetch("${closed}/fetch").catch(() => { document.title = "Kept out" });
      </script>`,
    });
    // An address that does not say that it is this machine's.
    const port = await startForeignBrowser();
    const { get, call } = await openBrowsing({ "browser.cdp_url": `http://0.0.0.0:${port}` });
    let notes = String((await get("navigate", { url: `${site.base}/` })).notes);
    const title = async () => {
      const looked = await get("snapshot");
      notes += String(looked.notes);
      return looked.title;
    };
    await expect.poll(title, { timeout: 20_000 }).toBe("Kept out");
    expect(notes).toContain("127.0.0.2");
    expect((await call("navigate", { url: `${closed}/` })).ok).toBe(false);
    expect(secret.seen).toEqual([]);
  });
});

/** A browser that somebody else has started; answers with the port of its protocol. */
async function startForeignBrowser(): Promise<string> {
  const profile = tempDir();
  const browser = spawn(
    "chromium",
    [
      "--headless=new",
      "--no-sandbox",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  onTestEnd(() => {
    if (browser.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
  });
  let said = "";
  browser.stderr.on("data", (chunk) => {
    said += chunk;
  });
  expect(await until(() => /DevTools listening on/.test(said))).toBe(true);
  return /127\.0\.0\.1:(\d+)\//.exec(said)?.[1] ?? "";
}

/** Another process that has a browser open. */
async function holdBrowser(
  url: string,
  cache: string,
): Promise<{ owner: ChildProcess; isReady: Promise<string> }> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-hold-"));
  made.push(folder);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const bundle = await rolldown({
    input: join(root, "test/tools/browser/hold-browser.ts"),
    platform: "node",
    external: (id) => !/^[./]/.test(id),
  });
  await bundle.write({ file: join(folder, "hold-browser.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
  const owner = spawn(process.execPath, [join(folder, "hold-browser.mjs"), url, cache], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestEnd(() => void owner.kill("SIGKILL"));
  const isReady = new Promise<string>((resolve) => {
    owner.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    owner.once("exit", () => resolve("ended"));
  });
  return { owner, isReady };
}
