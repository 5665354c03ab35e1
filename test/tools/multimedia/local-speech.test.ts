// @needs ffmpeg espeak-ng
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSpeechModel } from "../../../src/weights/speech-models.js";
import { tempDir, testRuntime } from "../../support/runtime.js";

const SENTENCE = "Please schedule a meeting with Alice tomorrow morning. The weather is nice today.";
const missing = (name: string) =>
  findSpeechModel(name, { home: "/nonexistent" }) === undefined
    ? `the model ${name} is missing: run \`npx hermes setup speech\``
    : undefined;

async function session(flags: Readonly<Record<string, unknown>>) {
  const { runtime, cwd } = await testRuntime([], { builtins: true, flags });
  const opened = await runtime.openSession();
  return { cwd, opened };
}

function words(text: unknown): readonly string[] {
  return (
    String(text)
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  );
}

function shareHeard(heard: unknown): number {
  const found = new Set(words(heard));
  const said = words(SENTENCE);
  return said.filter((word) => found.has(word)).length / said.length;
}

describe("offline", { timeout: 120_000 }, () => {
  it("Moonshine writes down what espeak-ng says, in segments with their times", async ({ skip }) => {
    const reason = missing("moonshine");
    if (reason !== undefined) skip(reason);
    const { opened } = await session({ "tts.provider": "espeak", "stt.provider": "moonshine" });
    const spoken = await opened.call({
      name: "text_to_speech",
      arguments: { text: SENTENCE, output_path: "said.ogg" },
    });
    expect(spoken.structured).toMatchObject({ success: true, codec: "opus" });
    const heard = await opened.call({
      name: "audio_transcribe",
      arguments: { path: "said.ogg", timestamps: true },
    });
    expect(heard.error).toBeUndefined();
    const answer = heard.structured as {
      readonly text: string;
      readonly duration: number;
      readonly segments: readonly { readonly start: number; readonly end: number }[];
    };
    expect(shareHeard(answer.text)).toBeGreaterThan(0.5);
    expect(Math.abs(answer.duration - (spoken.structured as { duration: number }).duration)).toBeLessThan(
      0.2,
    );
    for (const { start, end } of answer.segments) expect(end).toBeGreaterThan(start);
    expect(answer.segments.at(-1)?.end).toBeLessThanOrEqual(answer.duration + 0.1);
  });

  it("Kokoro speaks so that Moonshine understands nearly every word", async ({ skip }) => {
    const reason = missing("kokoro") ?? missing("moonshine");
    if (reason !== undefined) skip(reason);
    const { opened } = await session({ "tts.provider": "kokoro", "stt.provider": "moonshine" });
    const spoken = await opened.call({
      name: "text_to_speech",
      arguments: { text: SENTENCE, output_path: "said.wav" },
    });
    expect(spoken.structured).toMatchObject({ provider: "kokoro", codec: "pcm_s16le" });
    const heard = await opened.call({ name: "audio_transcribe", arguments: { path: "said.wav" } });
    expect(shareHeard((heard.structured as { text: string }).text)).toBeGreaterThan(0.85);
  });

  it("a call that is stopped ends the model's process, and the next one works", async ({ skip }) => {
    const reason = missing("moonshine");
    if (reason !== undefined) skip(reason);
    const { opened } = await session({ "tts.provider": "espeak", "stt.provider": "moonshine" });
    await opened.call({
      name: "text_to_speech",
      arguments: { text: `${SENTENCE} `.repeat(20), output_path: "long.wav" },
    });
    const stop = new AbortController();
    const stopped = opened.call(
      { name: "audio_transcribe", arguments: { path: "long.wav" } },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect((await stopped).error).toMatchObject({ code: "cancelled" });
    await opened.call({ name: "text_to_speech", arguments: { text: "Good morning.", output_path: "a.wav" } });
    const next = await opened.call({ name: "audio_transcribe", arguments: { path: "a.wav" } });
    expect(words((next.structured as { text: string }).text)).toContain("morning");
  });

  it("another language than English is refused with what could do it", async ({ skip }) => {
    const reason = missing("moonshine");
    if (reason !== undefined) skip(reason);
    const { opened, cwd } = await session({ "tts.provider": "espeak", "stt.provider": "moonshine" });
    await opened.call({
      name: "text_to_speech",
      arguments: { text: "Guten Tag", voice: "de", output_path: join(cwd, "de.wav") },
    });
    const heard = await opened.call({
      name: "audio_transcribe",
      arguments: { path: "de.wav", language: "de" },
    });
    expect(heard.error?.message).toContain("moonshine lacks the language de");
  });
});

it("the folder of models may be empty", () => {
  expect(findSpeechModel("unknown", { home: tempDir() })).toBeUndefined();
});
