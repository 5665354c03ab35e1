import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const bench = (file: string) => import(new URL(`../../bench/${file}`, import.meta.url).href);
const { startSubject } = await bench("coordinate.mjs");
const { startScriptedModel } = await bench("scripted-model.mjs");

const dist = fileURLToPath(new URL("../../dist", import.meta.url));

const SESSIONS = 200;
const MESSAGES = 2;
const MOST_MEGABYTES = 512;

it("two hundred conversations at once in one process come to their end, within bounded memory", async () => {
  const model = await startScriptedModel();
  const subject = await startSubject("hermes-work", { dist, url: model.url, messages: MESSAGES });
  try {
    // Throws unless every call of every conversation went well.
    await subject.measure("atOnce", SESSIONS);
    for (const client of [0, SESSIONS - 1]) {
      const { requests, extended } = await model.account(`work-${client}`);
      expect({ requests, extended }).toEqual({ requests: MESSAGES * 4, extended: MESSAGES * 4 });
    }
    expect((await subject.measure("peakBytes", 1)) / 1024 ** 2).toBeLessThan(MOST_MEGABYTES);
  } finally {
    await subject.stop();
    await model.stop();
  }
}, 600_000);
