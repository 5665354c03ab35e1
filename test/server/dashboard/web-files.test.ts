import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { problemHtml } from "../../../src/server/sign-in.js";
import { tempDir } from "../../support/runtime.js";
import { requestText, sendRaw, startServer, TOKEN } from "../support.js";
import { echo } from "../tools.js";
import { PAYLOADS } from "../xss-payloads.js";

const INDEX = "<!doctype html><title>the page</title>";
const SCRIPT = "export const page = 1;\n";

function builtPage(): string {
  const folder = tempDir();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), INDEX);
  writeFileSync(join(folder, "secret.js"), "outside of assets");
  writeFileSync(join(folder, "assets", "main-abc.js"), SCRIPT);
  writeFileSync(join(folder, "assets", "main-abc.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, "assets", "main-abc.js.gz"), gzipSync(SCRIPT));
  writeFileSync(join(folder, "assets", "plain.css"), "body {}");
  writeFileSync(join(folder, "assets", "strange.exe"), "no");
  return folder;
}

const ADDRESSES = [
  "/",
  "/live",
  "/approvals",
  "/chat",
  "/tools",
  "/tools/read_file",
  "/tools/mcp%3Agithub",
  "/stats",
  "/sources",
  "/processes",
  "/sessions",
  "/sessions/s_123",
  "/cron",
  "/permissions",
  "/logs",
  "/doctor",
  "/settings",
];

describe("the files of the page", () => {
  it("every address of the page gives the page, to whoever has been let in", async () => {
    const { server, ask } = await startServer([echo], { webFolder: builtPage() });
    for (const address of ADDRESSES) {
      const answer = await ask(address);
      expect([address, answer.status, await answer.text()]).toEqual([address, 200, INDEX]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const stranger = await fetch(new URL(address, server.url), { headers: { accept: "text/html" } });
      const text = await stranger.text();
      expect([address, stranger.status, text.includes("the page</title>")]).toEqual([address, 401, false]);
      expect(text).toContain('<input name="token" type="password"');
    }
  });

  it("lets a browser in with the token, and then by its cookie", async () => {
    const { server } = await startServer([], { webFolder: builtPage() });
    const first = await fetch(`${server.url}?token=${TOKEN}`, { redirect: "manual" });
    expect(first.status).toBe(303);
    const cookie = (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    for (const address of ["/", "/approvals", "/assets/main-abc.js"]) {
      const answer = await fetch(new URL(address, server.url), { headers: { cookie } });
      expect([address, answer.status]).toEqual([address, 200]);
    }
  });

  it("parts are kept by browsers and come compressed where that is taken", async () => {
    const { ask, port } = await startServer([], { webFolder: builtPage() });
    const answer = await ask("/assets/main-abc.js", { headers: { "accept-encoding": "gzip, br" } });
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect(answer.headers.get("content-encoding")).toBe("br");
    expect(await answer.text()).toBe(SCRIPT);
    const gzip = await ask("/assets/main-abc.js", { headers: { "accept-encoding": "gzip, br;q=0" } });
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(await gzip.text()).toBe(SCRIPT);
    const raw = await sendRaw(
      port,
      requestText("GET /assets/main-abc.js", [
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${TOKEN}`,
        "Connection: close",
      ]),
    );
    expect(raw.head).not.toMatch(/content-encoding/i);
    expect(raw.body).toBe(SCRIPT);
    expect((await ask("/assets/plain.css", { headers: { "accept-encoding": "br" } })).status).toBe(200);
  });

  it("gives nothing from outside of its folder, and nothing without the token", async () => {
    const { server, ask } = await startServer([], { webFolder: builtPage() });
    for (const name of [
      "..%2fsecret.js",
      "..%2f..%2fetc%2fpasswd",
      "%2e%2e%2findex.html",
      ".hidden.js",
      "main-abc.js.br",
      "strange.exe",
      "nothing.js",
      "%00.js",
    ]) {
      expect([name, (await ask(`/assets/${name}`)).status]).toEqual([name, 404]);
    }
    expect((await fetch(new URL("/assets/main-abc.js", server.url))).status).toBe(401);
  });

  it("keeps its rules strict: nothing from elsewhere, nothing inline, Trusted Types", async () => {
    const { ask } = await startServer([], { webFolder: builtPage() });
    const policy = (await ask("/live")).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
  });

  it("says so where it has not been built", async () => {
    const { ask } = await startServer([], { webFolder: tempDir() });
    const answer = await ask("/live");
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("npm run build");
  });
});

describe("the form for the token", () => {
  it("has its style without a token, and nothing inline", async () => {
    const { server } = await startServer([echo]);
    const style = await fetch(new URL("/sign-in.css", server.url));
    expect([style.status, style.headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"]);
    const answer = await fetch(server.url, { headers: { accept: "text/html,*/*;q=0.8" } });
    const text = await answer.text();
    expect([answer.status, text.includes("echo")]).toEqual([401, false]);
    expect(text).not.toMatch(/<style|style=|<script| on[a-z]+=|https?:\/\//);
  });

  it("shows what a request holds as text", () => {
    for (const payload of PAYLOADS) {
      const text = problemHtml({ status: 404, code: "not_found", message: payload, hint: payload });
      expect(
        text.replace(
          /<\/?(?:!doctype html|html|head|meta|title|link|body|main|h1|p|form|button)\b[^<>]*>/g,
          "",
        ),
      ).not.toMatch(/[<>]/);
    }
  });
});
