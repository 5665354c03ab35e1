import { expect, test } from "vitest";
import { boundedAnswers } from "../../../src/sources/mcp/connect.js";

const LONGEST = 1024;

/** What arrives of an answer that comes in these pieces. */
async function answered(pieces: readonly string[], type: string): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const send = async () => new Response(body, { headers: { "content-type": type } });
  return await (await boundedAnswers(send, LONGEST)("http://127.0.0.1/")).text();
}

test("a stream may be long, an event in it may not, wherever the pieces are cut", async () => {
  const event = `data: ${"x".repeat(500)}\n\n`;
  for (const ending of ["\n", "\r\n"]) {
    const text = event.replaceAll("\n", ending).repeat(20);
    for (const size of [3, 512, 4_000]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(await answered(pieces, "text/event-stream")).toBe(text);
      const endless = [
        ...pieces.slice(0, 3),
        ...Array.from({ length: 30 }, () => `data: ${"y".repeat(90)}\n`),
      ];
      await expect(answered(endless, "text/event-stream; charset=utf-8")).rejects.toThrow(
        "a message of more",
      );
    }
  }
});

test("an answer that is one message is bounded as a whole", async () => {
  expect(await answered(["a\n\n".repeat(300)], "application/json")).toHaveLength(900);
  await expect(answered(["a\n\n".repeat(300), "b".repeat(200)], "application/json")).rejects.toThrow(
    "more than",
  );
});
