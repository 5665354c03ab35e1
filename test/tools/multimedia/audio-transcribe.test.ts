import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wavFile } from "../../../src/tools/multimedia/audio-bytes.js";
import { whisperSegments } from "../../../src/tools/multimedia/transcribe/listeners.js";
import { stretchesOf } from "../../../src/tools/multimedia/transcribe/stretches.js";
import { needs } from "../../support/needs.js";
import { tempDir, testRuntime } from "../../support/runtime.js";
import { type Page, startSite } from "../network/site.js";

const RATE = 16_000;

/** A tone with pauses: seconds of sound and of silence in turn. */
function tones(...lengths: readonly number[]): Buffer {
  const parts = lengths.map((seconds, index) => {
    const samples = Buffer.alloc(Math.round(seconds * RATE) * 2);
    if (index % 2 === 1) return samples;
    for (let at = 0; at < samples.length; at += 2)
      samples.writeInt16LE(Math.round(8_000 * Math.sin((at / 2) * 0.2)), at);
    return samples;
  });
  return Buffer.concat(parts);
}

async function session(options: {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}) {
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    env: { PATH: process.env.PATH, ...options.env },
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...options.flags },
  });
  writeFileSync(join(cwd, "talk.wav"), wavFile({ samples: tones(1, 0.5, 1), rate: RATE, channels: 1 }));
  const opened = await runtime.openSession();
  const call = (args: Record<string, unknown>, name = "audio_transcribe") =>
    opened.call({ name, arguments: args });
  return { cwd, opened, call };
}

/** As platform.openai.com/docs/api-reference/audio/verbose-json-object shows it. */
const VERBOSE = {
  task: "transcribe",
  language: "english",
  duration: 2.5,
  text: " Hello there. ",
  segments: [{ id: 0, start: 0, end: 2.456789, text: " Hello there.", tokens: [1] }],
};

describe("an OpenAI-compatible server", () => {
  it("gets the file, the model, the language and its own key", async () => {
    let headers: unknown;
    const page: Page = (request, response) => {
      headers = request.headers;
      response.end(JSON.stringify(VERBOSE));
    };
    const site = await startSite({ "/v1/audio/transcriptions": page });
    const { call } = await session({
      env: { OPENAI_API_KEY: "sk-openai-123456", STT_API_KEY: "own-key-123456" },
      flags: { "stt.provider": "openai", "stt.base_url": site.base },
    });
    const result = await call({ path: "talk.wav", language: "en-US", timestamps: true });
    expect(result.structured).toMatchObject({
      text: "Hello there.",
      language: "english",
      duration: 2.5,
      provider: "openai",
      segments: [{ start: 0, end: 2.46, text: "Hello there." }],
    });
    expect(headers).toMatchObject({ authorization: "Bearer own-key-123456" });
    const type = (headers as { readonly "content-type": string })["content-type"];
    // The body was read as text, so only what is text in it can be looked at.
    expect(type).toMatch(/^multipart\/form-data; boundary=/);
    const [body = ""] = site.bodies;
    expect(body).toContain('name="file"; filename="talk.wav"');
    expect(body).toMatch(/name="model"\s+whisper-1/);
    expect(body).toMatch(/name="response_format"\s+verbose_json/);
    expect(body).toMatch(/name="language"\s+en\s/);
  });

  it("hears what lies at an address, and the model is told whose words they are", async () => {
    const site = await startSite({
      "/talk.ogg": (_request, response) => response.end("OggS"),
      "/v1/audio/transcriptions": (_request, response) => response.end(JSON.stringify(VERBOSE)),
    });
    const { call } = await session({ flags: { "stt.provider": "openai", "stt.base_url": site.base } });
    const result = await call({ url: `${site.base}/talk.ogg` }, "transcription");
    expect(result.structured).toMatchObject({ text: "Hello there." });
    expect(JSON.stringify(result.structured)).not.toContain("segments");
    expect(result.untrusted_from).toContain(`${site.base}/talk.ogg`);
    expect(site.seen).toEqual(["GET /talk.ogg", "POST /v1/audio/transcriptions"]);
  });
});

describe("whisper.cpp", () => {
  /** Takes the arguments of whisper-cli and a WAV file on its input, and says what it was given. */
  const PROGRAM = `#!/bin/sh
[ "$1" = --help ] && exit 0
echo "$@" > arguments
cat > heard.wav
echo
echo "[00:00:00.000 --> 00:00:02.480]   And so, my fellow Americans,"
echo "[01:00:02.480 --> 01:00:04.000]   ask not."
`;

  it("gets sound of 16 kHz on its input and tells of times", async (context) => {
    needs(context, "ffmpeg");
    const folder = tempDir();
    writeFileSync(join(folder, "whisper-cli"), PROGRAM);
    chmodSync(join(folder, "whisper-cli"), 0o755);
    writeFileSync(join(folder, "ggml-base.en.bin"), "model");
    const { call, cwd } = await session({
      env: { PATH: `${folder}:${process.env.PATH}` },
      flags: { "stt.provider": "whisper", "stt.model": join(folder, "ggml-base.en.bin") },
    });
    const result = await call({ path: "talk.wav", timestamps: true });
    expect(result.error).toBeUndefined();
    expect(result.structured).toMatchObject({
      text: "And so, my fellow Americans, ask not.",
      provider: "whisper",
      language: "en",
      duration: 2.5,
      segments: [
        { start: 0, end: 2.48 },
        { start: 3_602.48, end: 3_604 },
      ],
    });
    expect(readFileSync(join(cwd, "arguments"), "utf8").trim()).toBe(
      `-m ${join(folder, "ggml-base.en.bin")} -f - -l en -np`,
    );
    const heard = readFileSync(join(cwd, "heard.wav"));
    expect([heard.readUInt32LE(24), heard.readUInt16LE(22), heard.length]).toEqual([
      RATE,
      1,
      44 + 2.5 * RATE * 2,
    ]);
  });

  it("lines that are no segments are left out", () => {
    expect(whisperSegments("noise\n[00:00:01.000 --> 00:01:02.500]  Hi\n\n")).toEqual([
      { start: 1, end: 62.5, text: "Hi" },
    ]);
  });
});

describe("what cannot be heard", () => {
  it("a file that is no sound is an error with a way on", async (context) => {
    needs(context, "ffmpeg");
    const folder = tempDir();
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/whisper-cli"), "#!/bin/sh\nexit 0\n");
    chmodSync(join(folder, "bin/whisper-cli"), 0o755);
    const { call, cwd } = await session({
      env: { PATH: `${join(folder, "bin")}:${process.env.PATH}` },
      flags: { "stt.provider": "whisper", "stt.model": "/m.bin" },
    });
    writeFileSync(join(cwd, "notes.mp3"), "these are words, not sound\n".repeat(50));
    const text = await call({ path: "notes.mp3" });
    expect(text.error?.message).toContain("could not read this as sound");
    // A list of other files, which ffmpeg would open in turn.
    writeFileSync(join(cwd, "list.mp3"), `ffconcat version 1.0\nfile '${join(cwd, "talk.wav")}'\n`);
    expect((await call({ path: "list.mp3" })).error?.message).toContain("could not read this as sound");
    writeFileSync(join(cwd, "hls.mp3"), `#EXTM3U\n#EXTINF:1,\n${join(cwd, "talk.wav")}\n#EXT-X-ENDLIST\n`);
    expect((await call({ path: "hls.mp3" })).error?.message).toContain("could not read this as sound");
  });

  it.each([[{}], [{ path: "talk.wav", url: "http://127.0.0.1/x.wav" }]])("%j", async (args) => {
    const { call } = await session({ flags: { "stt.base_url": "http://127.0.0.1:9" } });
    expect((await call(args)).error).toMatchObject({ code: "invalid_arguments" });
  });

  it("a file that is not there", async () => {
    const { call } = await session({ flags: { "stt.base_url": "http://127.0.0.1:9" } });
    expect((await call({ path: "nowhere.wav" })).error).toMatchObject({ code: "not_found" });
  });
});

describe("stretches", () => {
  const cut = async (pcm: Buffer, pieceBytes = 7_001) => {
    const pieces = async function* () {
      for (let at = 0; at < pcm.length; at += pieceBytes) yield pcm.subarray(at, at + pieceBytes);
    };
    const found: (readonly [number, number])[] = [];
    for await (const { start, end } of stretchesOf(pieces()))
      found.push([Math.round(start * 10) / 10, Math.round(end * 10) / 10]);
    return found;
  };

  it("end at pauses and leave silence out", async () => {
    expect(await cut(tones(6, 1, 6, 8, 3))).toEqual([
      [0, 6],
      [7, 13],
      [21, 24],
    ]);
  });

  it("are never longer than the model can hear, and nothing is lost", async () => {
    const found = await cut(tones(50));
    for (const [start, end] of found) expect(end - start).toBeLessThanOrEqual(20);
    expect(found[0]?.[0]).toBe(0);
    expect(found.at(-1)?.[1]).toBe(50);
    for (const [at, [start]] of found.entries()) if (at > 0) expect(start).toBe(found[at - 1]?.[1]);
  });

  it("silence alone gives none", async () => {
    expect(await cut(tones(0, 30))).toEqual([]);
  });
});
