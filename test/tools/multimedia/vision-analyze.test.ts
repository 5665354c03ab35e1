import { readFileSync, writeFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startSite } from "../network/site.js";
import { caller } from "./caller.js";
import { scanned } from "./make-pdf.js";

/** As platform.openai.com/docs/api-reference/chat describes an answer. */
const answerOf = (content: string) =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "seer-1",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: { prompt_tokens: 900, completion_tokens: 12, total_tokens: 912 },
  });

interface Asked {
  readonly model: string;
  readonly messages: readonly {
    readonly content: readonly { type: string; text?: string; image_url?: { url: string } }[];
  }[];
}

/** A server with one vision model; what it was asked is kept. */
async function visionServer(reply: (asked: Asked, times: number) => { status: number; body: string }) {
  const asked: Asked[] = [];
  const site = await startSite({
    "/v1/models": (_request, response) =>
      void response.end(JSON.stringify({ object: "list", data: [{ id: "seer-1" }] })),
    "/v1/chat/completions": (_request, response, body) => {
      asked.push(JSON.parse(body) as Asked);
      const { status, body: answer } = reply(asked.at(-1) as Asked, asked.length);
      response.writeHead(status, { "content-type": "application/json" }).end(answer);
    },
  });
  return { ...site, asked };
}

async function sizeSent({ messages }: Asked): Promise<{ width: number; height: number; bytes: number }> {
  const url = messages[0]?.content.find(({ type }) => type === "image_url")?.image_url?.url ?? "";
  const bytes = Buffer.from(url.replace(/^data:[^,]*,/, ""), "base64");
  const { width, height } = await sharp(bytes).metadata();
  return { width, height, bytes: bytes.length };
}

describe("vision_analyze", () => {
  it("reads text without any model: of files and addresses, by either name", {
    timeout: 30_000,
  }, async () => {
    const { call, path } = await caller();
    writeFileSync(
      path("page.jpg"),
      await scanned(["The quick brown fox", "Order 66"], { width: 900, height: 400 }),
    );
    const file = await call("vision_analyze", { image_url: "page.jpg", mode: "ocr" });
    expect(file.structured).toMatchObject({ success: true, text: "The quick brown fox\nOrder 66" });
    expect((file.structured as { confidence: number }).confidence).toBeGreaterThan(80);
    const site = await startSite({
      "/p.jpg": (_request, response) => void response.end(readFileSync(path("page.jpg"))),
    });
    const web = await call("image_analyze", { path: `${site.base}/p.jpg`, mode: "ocr" });
    expect(web.structured).toMatchObject({ text: "The quick brown fox\nOrder 66" });
    expect(web.untrusted_from).toEqual([`${site.base}/p.jpg`]);
  });

  it("shows the model a picture that every model takes, and counts what that cost", async () => {
    const server = await visionServer(() => ({ status: 200, body: answerOf("A red square.") }));
    const { call, path } = await caller({ flags: { "vision.base_url": server.base } });
    writeFileSync(
      path("big.png"),
      await sharp({ create: { width: 4_000, height: 1_000, channels: 3, background: "#ff0000" } })
        .png()
        .toBuffer(),
    );
    const result = await call("vision_analyze", { image_url: "big.png", question: "What is it?" });
    expect(result.structured).toMatchObject({
      analysis: "A red square.",
      model: "seer-1",
      width: 4_000,
      height: 1_000,
    });
    expect((result.structured as { scale_note: string }).scale_note).toContain("2.55");
    const [asked] = server.asked;
    expect(asked?.model).toBe("seer-1");
    expect(asked?.messages[0]?.content[0]).toEqual({ type: "text", text: "What is it?" });
    expect(asked && (await sizeSent(asked))).toMatchObject({ width: 1_568, height: 392 });
  });

  it("photographs become small enough in bytes too", async () => {
    const server = await visionServer(() => ({ status: 200, body: answerOf("Noise.") }));
    const { call, path } = await caller({
      flags: { "vision.base_url": `${server.base}/v1`, "vision.model": "mine" },
    });
    const noise = sharp({
      create: {
        width: 1_500,
        height: 1_200,
        channels: 3,
        background: "#888888",
        noise: { type: "gaussian", mean: 128, sigma: 20 },
      },
    });
    writeFileSync(path("noise.png"), await noise.png().toBuffer());
    await call("vision_analyze", { image_url: "noise.png" });
    const [asked] = server.asked;
    expect(asked?.model).toBe("mine");
    expect(asked === undefined ? 0 : (await sizeSent(asked)).bytes).toBeLessThan(600_000);
  });

  it("lists objects with boxes in pixels of the picture itself", async () => {
    const listed =
      '```json\n{"objects":[{"name":"cat","confidence":0.9,"box":[100,50,200,100]}],"summary":"A cat."}\n```';
    const server = await visionServer(() => ({ status: 200, body: answerOf(listed) }));
    const { call, path } = await caller({ flags: { "vision.base_url": server.base } });
    writeFileSync(
      path("cat.png"),
      await sharp({ create: { width: 3_136, height: 800, channels: 3, background: "#ffffff" } })
        .png()
        .toBuffer(),
    );
    const result = await call("vision_analyze", { image_url: "cat.png", mode: "objects" });
    expect(result.structured).toMatchObject({
      analysis: "A cat.",
      objects: [{ name: "cat", confidence: 0.9, box: { left: 200, top: 100, width: 400, height: 200 } }],
    });
  });

  it("a server that finds the picture too large gets a smaller one, once", async () => {
    const server = await visionServer((_asked, times) =>
      times === 1 ? { status: 413, body: "{}" } : { status: 200, body: answerOf("Seen.") },
    );
    const { call, path } = await caller({ flags: { "vision.base_url": server.base } });
    writeFileSync(
      path("a.png"),
      await sharp({ create: { width: 1_500, height: 300, channels: 3, background: "#ffffff" } })
        .png()
        .toBuffer(),
    );
    expect((await call("vision_analyze", { image_url: "a.png" })).structured).toMatchObject({
      analysis: "Seen.",
    });
    const [, second] = server.asked;
    expect(second && (await sizeSent(second)).width).toBe(768);
  });

  it("says what is missing or wrong, without the key", async () => {
    const { call, path } = await caller();
    writeFileSync(
      path("a.png"),
      await sharp({ create: { width: 9, height: 9, channels: 3, background: "#ffffff" } })
        .png()
        .toBuffer(),
    );
    writeFileSync(path("no.png"), "words");
    const none = await call("vision_analyze", { image_url: "a.png" });
    expect(none.error).toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("vision.base_url"),
    });
    expect((await call("vision_analyze", { image_url: "no.png", mode: "ocr" })).error?.message).toMatch(
      /not a picture/,
    );
    const site = await startSite({});
    const gone = await call("vision_analyze", { image_url: `${site.base}/gone.png`, mode: "ocr" });
    expect(gone.error?.message).toMatch(/404/);
    expect(site.seen).toHaveLength(1);
    const server = await visionServer(() => ({
      status: 401,
      body: '{"error":{"message":"bad sk-secret-1234"}}',
    }));
    const keyed = await caller({
      flags: { "vision.base_url": server.base },
      env: { OPENAI_API_KEY: "sk-secret-1234" },
    });
    writeFileSync(keyed.path("a.png"), readFileSync(path("a.png")));
    const refused = await keyed.call("vision_analyze", { image_url: "a.png" });
    expect(refused.error?.hint).toMatch(/key was refused/);
    expect(JSON.stringify(refused)).not.toContain("sk-secret-1234");
  });

  it("tries again when a server stumbles", { timeout: 20_000 }, async () => {
    const picture = await scanned(["Again"], { width: 500, height: 300 });
    let times = 0;
    const site = await startSite({
      "/p.jpg": (_request, response) => {
        times += 1;
        response.writeHead(times === 1 ? 503 : 200).end(times === 1 ? "" : picture);
      },
    });
    const { call } = await caller();
    const result = await call("vision_analyze", { image_url: `${site.base}/p.jpg`, mode: "ocr" });
    expect(result.structured).toMatchObject({ text: "Again" });
    expect(times).toBe(2);
  });
});
