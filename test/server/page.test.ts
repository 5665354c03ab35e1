import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visibleLines } from "../../src/base/visible-text.js";
import { escapeHtml, problemHtml } from "../../src/server/sign-in.js";
import { startServer } from "./support.js";
import { echo } from "./tools.js";
import { PAYLOADS } from "./xss-payloads.js";

const page = (text: string) => problemHtml({ status: 404, code: "not_found", message: text, hint: text });
const tagsOf = (markup: string) => markup.match(/<[^>]*>/g);

describe("hostile text in what the server itself shows", () => {
  it("stays text: it never changes the markup around it", () => {
    const harmless = tagsOf(page("x"));
    for (const payload of PAYLOADS) expect(tagsOf(page(payload)), payload).toEqual(harmless);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(tagsOf(page(text))).toEqual(harmless);
      }),
    );
  });

  it("cannot leave an attribute, end a comment or hide what stands beside it", () => {
    expect(escapeHtml(`"'\`<>&`)).toBe("&quot;&#39;&#96;&lt;&gt;&amp;");
    expect(visibleLines("safe\u202Egnp.exe\u0000\u200b")).toBe("safe\\u{202e}gnp.exe\\u{0}\\u{200b}");
  });

  it("comes through every door of the API as JSON that no browser takes for a page", async () => {
    const { ask, calls } = await startServer([echo], { runtime: { journal: true } });
    for (const payload of PAYLOADS.slice(0, 10)) {
      await calls({
        tool_calls: [{ id: payload, function: { name: payload, arguments: { text: payload } } }],
      });
      await calls({ tool_calls: [{ id: "e", function: { name: "echo", arguments: { text: payload } } }] });
    }
    for (const path of [
      "/v1/calls",
      "/v1/calls?brief=1",
      "/v1/calls/1",
      "/v1/stats",
      "/v1/tools?detail=1",
      "/v1/tools/echo",
      `/v1/tools/${encodeURIComponent(PAYLOADS[0] ?? "")}`,
      `/v1/sessions?q=${encodeURIComponent(PAYLOADS[0] ?? "")}`,
      "/v1/logs",
      `/v1/tools?format=${encodeURIComponent("<script>")}`,
    ]) {
      const answer = await ask(path);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("in the address is not repeated by an error page", async () => {
    const { ask } = await startServer();
    for (const payload of PAYLOADS) {
      const answer = await ask(`/${encodeURIComponent(payload)}`, { headers: { accept: "text/html" } });
      expect(answer.status).toBe(404);
      expect(tagsOf(await answer.text())).toEqual(
        tagsOf(await (await ask("/nothing", { headers: { accept: "text/html" } })).text()),
      );
    }
  });
});

describe("whoever comes without the token", () => {
  it("is asked for it, without being told of anything", async () => {
    const { server } = await startServer([echo]);
    const answer = await fetch(server.url, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(answer.status).toBe(401);
    const text = await answer.text();
    expect(text).toContain('<input name="token" type="password"');
    expect(text).not.toContain("echo");
  });
});
