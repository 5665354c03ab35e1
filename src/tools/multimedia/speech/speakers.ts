import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { findSpeechModel, KOKORO_VOICES, kokoroIn, SPEECH_COMMAND } from "../../../weights/speech-models.js";
import { throughProgram } from "../../files/program-filter.js";
import { pcmOf, samplesOf, wavFile } from "../audio-bytes.js";
import { missingProgram } from "../ffmpeg.js";
import { LocalModels } from "../local-model/local-models.js";
import { KOKORO_RATE } from "../local-model/protocol.js";
import { askServer, interfaceUrl, OPENAI, serverKey, wordOf } from "../speech-server.js";

export type SpeechFormat = "wav" | "mp3" | "ogg";

export interface SpeechRequest {
  readonly text: string;
  readonly voice: string | undefined;
  /** What is wanted in the end; who cannot make it gives WAV instead. */
  readonly format: SpeechFormat;
}

export interface Spoken {
  readonly format: SpeechFormat;
  readonly bytes: Uint8Array;
  readonly voice: string;
}

/** One that turns text into sound. */
export interface Speaker {
  readonly name: string;
  /** Longer texts are refused, not cut. */
  readonly maxChars: number;
  /** What it lacks, undefined when it can be asked. */
  missing(ctx: CallContext): string | undefined | Promise<string | undefined>;
  speak(request: SpeechRequest, ctx: CallContext): Promise<Spoken>;
}

const TIMEOUT_MS = 120_000;
const MAX_ANSWER_BYTES = 100 * 1024 * 1024;

const KOKORO = "kokoro";
const SENTENCE_END = /(?<=[.!?…]["”)]?)\s+|\n+/;

/** Runs here, offline, and sounds like a person; it speaks English only. */
const kokoro: Speaker = {
  name: KOKORO,
  // On two busy cores a second of speech takes three to make.
  maxChars: 2_000,
  missing: (ctx) => (kokoroOf(ctx) === undefined ? SPEECH_COMMAND : undefined),
  async speak({ text, voice = "af_heart" }, ctx) {
    const places = kokoroOf(ctx);
    if (places === undefined)
      throw new ToolError("The model is gone.", { hint: `Run \`${SPEECH_COMMAND}\`.` });
    if (!KOKORO_VOICES.includes(voice)) throw noSuchVoice(voice, KOKORO_VOICES.join(", "));
    const sentences = text.split(SENTENCE_END).filter((part) => /[\p{L}\p{N}]/u.test(part));
    const parts: Uint8Array[] = [];
    for (const [at, sentence] of sentences.entries()) {
      const order = { text: sentence, voice };
      const reply = await ctx.keep(LocalModels).ask({ places, order, signal: ctx.signal });
      if ("wave" in reply) parts.push(samplesOf(reply.wave));
      const fraction = (at + 1) / sentences.length;
      ctx.progress({ message: `spoke ${at + 1} of ${sentences.length} sentences`, fraction });
    }
    const samples = Buffer.concat(parts);
    return { format: "wav", bytes: wavFile({ samples, rate: KOKORO_RATE, channels: 1 }), voice };
  },
};

function kokoroOf({ settings }: CallContext) {
  const home = typeof settings.hermes_home === "string" ? settings.hermes_home : "";
  const folder = findSpeechModel(KOKORO, { home });
  return folder === undefined ? undefined : kokoroIn(folder);
}

const ESPEAK_VOICES = "what `espeak-ng --voices` lists (en-us, de, fr …)";

const espeak: Speaker = {
  name: "espeak",
  maxChars: 50_000,
  async missing(ctx) {
    const { exitCode } = await ctx.environment.exec({
      command: ["espeak-ng", "--version"],
      cwd: ctx.session.cwd,
      timeoutMs: 10_000,
      signal: ctx.signal,
    });
    return exitCode === 0 ? undefined : "the program espeak-ng";
  },
  async speak({ text, voice = "en-us" }, ctx) {
    if (!/^[\w+-]{1,40}$/.test(voice)) throw noSuchVoice(voice, ESPEAK_VOICES);
    const parts: Uint8Array[] = [];
    const speech = throughProgram({
      command: ["espeak-ng", "-b", "1", "-v", voice, "--stdin", "--stdout"],
      input: [Buffer.from(`${text}\n`, "utf8")],
      cwd: ctx.session.cwd,
      ctx,
      failure: (code) =>
        code === 127 ? missingProgram("espeak-ng", "espeak-ng") : noSuchVoice(voice, ESPEAK_VOICES),
    });
    for await (const piece of speech) parts.push(piece);
    return { format: "wav", bytes: Buffer.concat(parts), voice };
  },
};

/** platform.openai.com/docs/api-reference/audio/createSpeech; others offer the same interface. */
const openai: Speaker = {
  name: "openai",
  maxChars: 4_096,
  missing(ctx) {
    const base = wordOf(ctx.settings.tts, "base_url");
    if (base !== undefined || ctx.secrets.get("OPENAI_API_KEY") !== undefined) return undefined;
    return "tts.base_url or OPENAI_API_KEY";
  },
  async speak({ text, format, voice = "alloy" }, ctx) {
    const base = wordOf(ctx.settings.tts, "base_url") ?? OPENAI;
    const key = serverKey(base, "TTS_API_KEY", ctx);
    const model = wordOf(ctx.settings.tts, "model") ?? "gpt-4o-mini-tts";
    const response = await askServer(
      {
        server: new URL(base).host,
        keyName: base === OPENAI ? "OPENAI_API_KEY" : "TTS_API_KEY",
        url: interfaceUrl(base, "/audio/speech"),
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        // Its Opus comes in an Ogg container.
        body: JSON.stringify({
          model,
          input: text,
          voice,
          response_format: format === "ogg" ? "opus" : format,
        }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      },
      ctx,
    );
    return { format, bytes: await response.bytes(), voice };
  },
};

const ELEVENLABS_RATE = 24_000;

/** elevenlabs.io/docs/api-reference/text-to-speech/convert */
const elevenlabs: Speaker = {
  name: "elevenlabs",
  maxChars: 10_000,
  missing: (ctx) => (ctx.secrets.get("ELEVENLABS_API_KEY") === undefined ? "ELEVENLABS_API_KEY" : undefined),
  async speak({ text, format, voice = "21m00Tcm4TlvDq8ikWAM" }, ctx) {
    const own = isRecord(ctx.settings.urls) ? ctx.settings.urls.elevenlabs : undefined;
    const base = typeof own === "string" ? own.replace(/\/+$/, "") : "https://api.elevenlabs.io";
    const isMp3 = format === "mp3";
    const output = isMp3 ? "mp3_44100_128" : `pcm_${ELEVENLABS_RATE}`;
    const response = await askServer(
      {
        server: "ElevenLabs",
        keyName: "ELEVENLABS_API_KEY",
        url: `${base}/v1/text-to-speech/${encodeURIComponent(voice)}?output_format=${output}`,
        method: "POST",
        headers: {
          "content-type": "application/json",
          "xi-api-key": ctx.secrets.get("ELEVENLABS_API_KEY") ?? "",
        },
        body: JSON.stringify({
          text,
          model_id: wordOf(ctx.settings.tts, "model") ?? "eleven_multilingual_v2",
        }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      },
      ctx,
    );
    const bytes = await response.bytes();
    return isMp3
      ? { format, bytes, voice }
      : { format: "wav", bytes: wavFile({ samples: bytes, rate: ELEVENLABS_RATE, channels: 1 }), voice };
  },
};

/** In the order in which they are looked at: what runs here first, what costs money last. */
const SPEAKERS: readonly Speaker[] = [kokoro, espeak, openai, elevenlabs];

/** The one of the settings, else the first that has what it needs. */
export async function chooseSpeaker(ctx: CallContext): Promise<Speaker> {
  const wanted = wordOf(ctx.settings.tts, "provider") ?? "auto";
  const lacking: string[] = [];
  for (const speaker of SPEAKERS) {
    if (wanted !== "auto" && wanted !== speaker.name) continue;
    const missing = await speaker.missing(ctx);
    if (missing === undefined) return speaker;
    lacking.push(`${speaker.name} lacks ${missing}`);
  }
  throw new ToolError(`Nobody here can speak: ${lacking.join("; ")}.`, {
    code: "unavailable",
    hint: `Run \`${SPEECH_COMMAND}\`, or set tts.provider.`,
  });
}

/** As it came, with a true length in its head; programs that write to a pipe put a false one there. */
export function mendedWav(bytes: Uint8Array): Uint8Array {
  const pcm = pcmOf(bytes);
  return pcm === undefined ? bytes : wavFile(pcm);
}

function noSuchVoice(voice: string, known: string): ToolError {
  return new ToolError(`There is no voice ${JSON.stringify(voice)}.`, {
    code: "invalid_arguments",
    hint: `There are: ${known}. Leave voice out for the usual one.`,
  });
}
