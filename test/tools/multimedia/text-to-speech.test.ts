import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { probeAudio, wavFile } from "../../../src/tools/multimedia/audio-bytes.js";
import { needs } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";
import { type Page, startSite } from "../network/site.js";

const SECOND = wavFile({ samples: new Uint8Array(48_000).fill(1), rate: 24_000, channels: 1 });

/** Sound of the size a pipe could not know, as servers stream it. */
function streamed(wav: Buffer): Buffer {
  const copy = Buffer.from(wav);
  copy.writeUInt32LE(0xffffffff, 4);
  copy.writeUInt32LE(0xffffffff, 40);
  return copy;
}

async function session(options: {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}) {
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    env: { PATH: process.env.PATH, ...options.env },
    flags: options.flags ?? {},
  });
  const opened = await runtime.openSession();
  const speak = (args: Record<string, unknown>) => opened.call({ name: "text_to_speech", arguments: args });
  return { cwd, runtime, opened, speak };
}

function answering(bytes: Buffer, seen: { headers?: unknown; body?: unknown } = {}): Page {
  return (request, response, body) => {
    seen.headers = request.headers;
    seen.body = JSON.parse(body);
    response.end(bytes);
  };
}

describe("espeak-ng", () => {
  it("speaks into a wav file whose head tells the truth", async (context) => {
    needs(context, "espeak-ng");
    const { speak, cwd } = await session({ flags: { "tts.provider": "espeak" } });
    const result = await speak({ text: "Hello world, this is a test.", output_path: "out/hello.wav" });
    expect(result.structured).toMatchObject({ success: true, format: "wav", codec: "pcm_s16le" });
    const bytes = readFileSync(join(cwd, "out/hello.wav"));
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
    expect(probeAudio(bytes)?.seconds).toBeGreaterThan(1);
    expect(result.structured).toMatchObject({ path: join(cwd, "out/hello.wav"), provider: "espeak" });
  });

  it.for([
    ["mp3", "mp3"],
    ["ogg", "opus"],
  ] as const)("%s holds %s", async ([ending, codec], context) => {
    needs(context, "espeak-ng", "ffmpeg");
    const { speak, cwd } = await session({ flags: { "tts.provider": "espeak" } });
    const plain = await speak({ text: "One two three four five.", output_path: "a.wav" });
    const result = await speak({ text: "One two three four five.", output_path: `a.${ending}` });
    expect(result.structured).toMatchObject({ format: ending, codec });
    const length = (answer: unknown) => (answer as { readonly duration: number }).duration;
    expect(Math.abs(length(result.structured) - length(plain.structured))).toBeLessThan(0.15);
    expect(probeAudio(readFileSync(join(cwd, `a.${ending}`)))?.codec).toBe(codec);
  });

  it("says which voice it does not have", async (context) => {
    needs(context, "espeak-ng");
    const { speak, cwd } = await session({ flags: { "tts.provider": "espeak" } });
    const result = await speak({ text: "Hello", output_path: "a.wav", voice: "klingon-9" });
    expect(result.error).toMatchObject({ code: "invalid_arguments" });
    expect(result.error?.message).toContain("klingon-9");
    expect(existsSync(join(cwd, "a.wav"))).toBe(false);
  });
});

describe("servers", () => {
  it("an OpenAI-compatible one gets text, voice, form and its own key, never OpenAI's", async () => {
    const seen: { headers?: unknown; body?: unknown } = {};
    const site = await startSite({ "/v1/audio/speech": answering(streamed(SECOND), seen) });
    const { speak, cwd } = await session({
      env: { OPENAI_API_KEY: "sk-openai-123456", TTS_API_KEY: "own-key-123456" },
      flags: {
        "tts.provider": "openai",
        "tts.base_url": site.base,
        "tts.voice": "nova",
        "tts.model": "tts-1",
      },
    });
    const result = await speak({ text: "Hello", output_path: "a.wav" });
    expect(result.structured).toMatchObject({ provider: "openai", voice: "nova", duration: 1 });
    expect(seen.body).toEqual({ model: "tts-1", input: "Hello", voice: "nova", response_format: "wav" });
    expect(seen.headers).toMatchObject({ authorization: "Bearer own-key-123456" });
    expect(readFileSync(join(cwd, "a.wav")).equals(SECOND)).toBe(true);
  });

  it("Vorbis in place of Opus is refused, and nothing is written", async () => {
    const vorbis = Buffer.concat([
      Buffer.from("OggS"),
      Buffer.alloc(24),
      Buffer.from("\u0001vorbis"),
      Buffer.alloc(60),
    ]);
    const site = await startSite({ "/v1/audio/speech": answering(vorbis) });
    const { speak, cwd } = await session({
      flags: { "tts.provider": "openai", "tts.base_url": `${site.base}/v1/` },
    });
    const result = await speak({ text: "Hello", output_path: "a.ogg" });
    expect(result.error?.message).toContain("gave vorbis in ogg instead of opus");
    expect(existsSync(join(cwd, "a.ogg"))).toBe(false);
  });

  it("ElevenLabs gets its key and gives samples, which become a wav file", async () => {
    const seen: { headers?: unknown; body?: unknown } = {};
    const site = await startSite({ "/v1/text-to-speech/rachel": answering(SECOND.subarray(44), seen) });
    const { speak, cwd } = await session({
      env: { ELEVENLABS_API_KEY: "el-123456789" },
      flags: {
        "tts.provider": "elevenlabs",
        tool_settings: { text_to_speech: { urls: { elevenlabs: site.base } } },
      },
    });
    const result = await speak({ text: "Hello", voice: "rachel" });
    expect(result.structured).toMatchObject({ provider: "elevenlabs", duration: 1 });
    expect(site.seen).toEqual(["POST /v1/text-to-speech/rachel?output_format=pcm_24000"]);
    expect(seen.headers).toMatchObject({ "xi-api-key": "el-123456789" });
    expect(seen.body).toEqual({ text: "Hello", model_id: "eleven_multilingual_v2" });
    const name = createHash("sha256")
      .update(JSON.stringify(["Hello", "rachel"]))
      .digest("hex")
      .slice(0, 10);
    expect(readFileSync(join(cwd, `speech-${name}.wav`)).equals(SECOND)).toBe(true);
  });

  it("what a server refuses is told in words, without the key", async () => {
    const page: Page = (_request, response) =>
      response.writeHead(401).end(JSON.stringify({ error: { message: "bad key own-key-123456" } }));
    const site = await startSite({ "/v1/audio/speech": page });
    const { speak } = await session({
      env: { TTS_API_KEY: "own-key-123456" },
      flags: { "tts.provider": "openai", "tts.base_url": site.base },
    });
    const result = await speak({ text: "Hello", output_path: "a.mp3" });
    expect(result.error).toMatchObject({ hint: "Check TTS_API_KEY." });
    expect(JSON.stringify(result)).not.toContain("own-key-123456");
  });

  it("a text that is longer than the provider takes is refused before anything is sent", async () => {
    const site = await startSite({ "/v1/audio/speech": answering(SECOND) });
    const { speak } = await session({ flags: { "tts.provider": "openai", "tts.base_url": site.base } });
    const result = await speak({ text: "word ".repeat(1_000), output_path: "a.wav" });
    expect(result.error).toMatchObject({ code: "invalid_arguments" });
    expect(result.error?.message).toContain("openai takes 4096");
    expect(site.seen).toEqual([]);
  });
});

describe("what may be written", () => {
  it("only a name that ends like sound", async () => {
    const { speak } = await session({ flags: { "tts.base_url": "http://127.0.0.1:9" } });
    const result = await speak({ text: "Hello", output_path: "notes.txt" });
    expect(result.error).toMatchObject({ code: "invalid_arguments" });
    expect(result.error?.hint).toContain(".wav, .mp3 or .ogg");
  });

  it("without anybody who speaks the tool says what to do", async () => {
    const { speak } = await session({
      env: { PATH: "/nonexistent" },
      flags: { "tts.provider": "espeak" },
    });
    const result = await speak({ text: "Hello" });
    expect(result.error).toMatchObject({ code: "unavailable" });
  });
});
