// @needs chromium
import { existsSync, readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startSite } from "../network/site.js";
import { openBrowsing } from "./browsing.js";

interface Asked {
  readonly model: string;
  readonly messages: readonly {
    readonly content: readonly { type: string; text?: string; image_url?: { url: string } }[];
  }[];
}

/** A server with a vision model, as platform.openai.com/docs/api-reference/chat describes it; what it was asked is kept. */
async function startSeer(status = 200) {
  const asked: Asked[] = [];
  const site = await startSite({
    "/v1/chat/completions": (_request, response, body) => {
      asked.push(JSON.parse(body) as Asked);
      const answer =
        status === 200
          ? {
              model: "seer",
              choices: [
                {
                  index: 0,
                  finish_reason: "stop",
                  message: { role: "assistant", content: "A button." },
                },
              ],
              usage: { prompt_tokens: 900, completion_tokens: 3, total_tokens: 903 },
            }
          : { error: { message: "no such model" } };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    },
  });
  const flags = { "vision.base_url": `${site.base}/v1`, "vision.model": "seer" };
  return { asked, flags };
}

const pictureIn = (asked: Asked | undefined) => {
  const url = asked?.messages[0]?.content.find(({ type }) => type === "image_url")?.image_url?.url ?? "";
  return Buffer.from(url.replace(/^data:[^,]*,/, ""), "base64");
};

/** How many pixels have the red of labels. */
async function reds(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels)
    if ((data[at] ?? 0) > 190 && (data[at + 1] ?? 255) < 40 && (data[at + 2] ?? 255) < 40) count += 1;
  return count;
}

describe("browser_vision", { timeout: 120_000 }, () => {
  it("shows the model the page as it looks, answers with what it said and where the picture is", async () => {
    const site = await startSite({
      "/": `<title>Blue</title><body style="margin:0;background:#0000ff"><button style="margin:200px">Go</button>
        <iframe src="/inner" style="border:0"></iframe>`,
      "/inner": "<button>Inside</button>",
    });
    const seer = await startSeer();
    const { get, call, ref } = await openBrowsing(seer.flags);
    expect((await call("vision", { question: "What is it?" })).error?.message).toContain("No page is open");
    await get("navigate", { url: `${site.base}/` });
    const looked = await call("vision", { question: "What is it?" });
    expect(looked.structured).toMatchObject({ analysis: "A button.", model: "seer", url: `${site.base}/` });
    expect(looked.untrusted_from).toEqual([`${site.base}/`]);
    const { screenshot_path } = looked.structured as { screenshot_path: string };
    expect(existsSync(screenshot_path)).toBe(true);
    const [asked] = seer.asked;
    expect(asked?.model).toBe("seer");
    expect(asked?.messages[0]?.content[0]).toEqual({ type: "text", text: "What is it?" });
    const { dominant } = await sharp(pictureIn(asked)).stats();
    expect([dominant.r < 30, dominant.g < 30, dominant.b > 220]).toEqual([true, true, true]);
    expect(await reds(pictureIn(asked))).toBe(0);
    expect(await sharp(readFileSync(screenshot_path)).metadata()).toMatchObject({ width: 1280, height: 800 });
    // With the refs of what can be used, of which nothing stays in the page, and which can be clicked.
    await get("vision", { question: "Where is the button?", annotate: true });
    expect(await reds(pictureIn(seer.asked[1]))).toBeGreaterThan(300);
    expect(seer.asked[1]?.messages[0]?.content[0]?.text).toMatch(/^Where is the button\?\n\n.*\(e5\)/);
    const left = await get("console", { expression: "document.querySelectorAll('hermes-labels').length" });
    expect(left.result).toBe("0");
    expect((await get("click", { ref: await ref("Inside") })).success).toBe(true);
  });

  it("says what to do when there is no model, or none that answers", async () => {
    const site = await startSite({ "/": "<title>Here</title>" });
    const without = await openBrowsing();
    const missing = await without.call("vision", { question: "What?" });
    expect(missing.error?.code).toBe("unavailable");
    expect(`${missing.error?.message} ${missing.error?.hint}`).toContain("OPENAI_API_KEY=...");
    const seer = await startSeer(404);
    const { get, call } = await openBrowsing(seer.flags);
    await get("navigate", { url: `${site.base}/` });
    const { error } = await call("vision", { question: "What?" });
    expect(error?.message).toContain("could not be looked at");
    expect(error?.hint).toContain("vision.model");
  });
});
