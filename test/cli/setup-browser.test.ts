import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { needs } from "../support/needs.js";
import { onTestEnd } from "../support/runtime.js";
import { hermes, tempFolder } from "./hermes.js";

interface Report {
  readonly ok: boolean;
  readonly items: readonly { what: string; state: string; fix: string | null; detail?: string }[];
}

/** A home, and a path that leads to Node and to no browser. */
function bareMachine() {
  const home = tempFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "node"));
  return { home, env: { PATH: bin } };
}

/** Answers like the servers that the library fetches browsers from: `files` by the last part of the address. */
async function startMirror(files: Readonly<Record<string, Buffer>>): Promise<string> {
  const server = createServer((request, response) => {
    const file = files[request.url?.split("/").at(-1) ?? ""];
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-length": file.length }).end(file);
  });
  onTestEnd(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function zipped(name: string, text: string): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(text), name, { mode: 0o100755 });
  zip.end();
  return buffer(zip.outputStream);
}

const report = (stdout: string) => JSON.parse(stdout) as Report;
const browserIn = ({ items }: Report) => items.find(({ what }) => what === "browser");

describe("hermes setup browser", { timeout: 120_000 }, () => {
  it("says which browser is there", async (context) => {
    needs(context, "chromium");
    const { code, stdout } = await hermes(["setup", "browser", "--check"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/playwright-core {2}present[\s\S]*browser {2}present {2}Chromium \d+.*chromium/);
    const again = await hermes(["setup", "browser", "--json"]);
    expect(again.code).toBe(0);
    const found = report(again.stdout);
    expect(found).toMatchObject({ ok: true, items: [{ what: "playwright-core" }, { state: "present" }] });
  });

  it("without one: --check changes nothing and exits with 4; a setting that names none says how to take it back", async () => {
    const { home, env } = bareMachine();
    const words = await hermes(["setup", "browser", "--check"], { home, env });
    expect(words.code).toBe(4);
    expect(words.stdout).toContain("browser  missing  no Chromium, Chrome or Edge  → hermes setup browser");
    const { code, stdout } = await hermes(["setup", "browser", "--check", "--json"], { home, env });
    expect(code).toBe(4);
    expect(report(stdout).ok).toBe(false);
    expect(browserIn(report(stdout))).toMatchObject({ state: "missing", fix: "hermes setup browser" });
    const called = await hermes(["call", "browser_snapshot"], { home, env });
    expect(called.code).toBe(4);
    expect(called.stderr).toContain("hermes setup browser");
    for (const [key, value] of [
      ["browser.executable", "/nowhere/chrome"],
      ["browser.cdp_url", "http://127.0.0.1:1"],
    ] as const) {
      await hermes(["config", "set", key, value], { home, env });
      const named = await hermes(["setup", "browser", "--json"], { home, env });
      // Nothing is fetched where the operator has named one.
      expect([named.code, named.stderr]).toEqual([3, ""]);
      const { fix = "" } = browserIn(report(named.stdout)) ?? {};
      expect(fix).toBe(`hermes config set ${key} ''`);
      const taken = await hermes(["config", "set", key, ""], { home, env });
      expect(taken.code).toBe(0);
    }
  });

  it("without one it fetches one into the Hermes home, which is then found", async ({ skip }) => {
    // Elsewhere the file has another name.
    if (process.platform !== "linux" || process.arch !== "x64") skip("for Linux on x64");
    const { home, env } = bareMachine();
    const mirror = await startMirror({
      "chrome-linux64.zip": await zipped("chrome-linux64/chrome", "#!/bin/sh\necho Chromium 1.2.3\n"),
      "ffmpeg-linux.zip": await zipped("ffmpeg-linux", "#!/bin/sh\n"),
    });
    const mirrored = { home, env: { ...env, PLAYWRIGHT_DOWNLOAD_HOST: mirror } };
    const { code, stdout } = await hermes(["setup", "browser", "--json"], mirrored);
    expect(browserIn(report(stdout))).toMatchObject({ state: "installed", fix: null });
    expect(browserIn(report(stdout))?.detail).toContain(`Chromium 1.2.3: ${join(home, "browsers")}`);
    expect(code).toBe(0);
    const check = await hermes(["setup", "browser", "--check", "--json"], { home, env });
    expect([check.code, browserIn(report(check.stdout))?.state]).toEqual([0, "present"]);
  });

  it("what cannot be fetched is told in one line with another way", async () => {
    const { home, env } = bareMachine();
    const mirrored = { home, env: { ...env, PLAYWRIGHT_DOWNLOAD_HOST: await startMirror({}) } };
    const { code, stdout } = await hermes(["setup", "browser", "--json"], mirrored);
    expect(code).toBe(3);
    const item = browserIn(report(stdout));
    expect(item).toMatchObject({ state: "failed", fix: expect.stringContaining("chromium") });
    expect(item?.detail).toMatch(/^it could not be fetched: .*404/);
    expect(item?.detail).not.toContain("\n");
  });
});
