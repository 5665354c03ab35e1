import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { findSpeechModel, moonshineIn, SPEECH_COMMAND } from "../../../weights/speech-models.js";
import { throughProgram } from "../../files/program-filter.js";
import { wavFile } from "../audio-bytes.js";
import {
  compressForSending,
  decodeAudio,
  HEARD_BYTES_PER_SECOND,
  HEARD_RATE,
  missingProgram,
} from "../ffmpeg.js";
import { LocalModels } from "../local-model/local-models.js";
import { askServer, interfaceUrl, OPENAI, serverKey, wordOf } from "../speech-server.js";
import { hearUpTo, type Sound, silent } from "./sound.js";
import { stretchesOf } from "./stretches.js";

export interface Segment {
  /** Seconds from the beginning. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Heard {
  readonly segments: readonly Segment[];
  readonly text: string;
  readonly language?: string | undefined;
  readonly seconds?: number | undefined;
  /** Only the beginning was listened to. */
  readonly truncated?: boolean | undefined;
}

export interface ListenRequest {
  readonly sound: Sound;
  /** As in "en" or "pt-BR". */
  readonly language: string | undefined;
}

/** One that turns sound into text. */
export interface Listener {
  readonly name: string;
  /** What it lacks for this, undefined when it can be asked. */
  missing(request: ListenRequest, ctx: CallContext): string | undefined | Promise<string | undefined>;
  listen(request: ListenRequest, ctx: CallContext): Promise<Heard>;
}

/** Longer sound is cut there, and the result says so. */
export const MAX_SECONDS = 2 * 3_600;

const MOONSHINE = "moonshine";

/** Runs here, offline, and knows English only. */
const moonshine: Listener = {
  name: MOONSHINE,
  missing({ language }, ctx) {
    if (language !== undefined && !/^en\b/.test(language)) return `the language ${language}`;
    return findSpeechModel(MOONSHINE, { home: homeOf(ctx) }) === undefined ? SPEECH_COMMAND : undefined;
  },
  async listen({ sound }, ctx) {
    const folder = findSpeechModel(MOONSHINE, { home: homeOf(ctx) });
    if (folder === undefined)
      throw new ToolError("The model is gone.", { hint: `Run \`${SPEECH_COMMAND}\`.` });
    const models = ctx.keep(LocalModels);
    const segments: Segment[] = [];
    let size = 0;
    const counted = async function* () {
      for await (const piece of decodeAudio({ source: sound.open(), ctx })) {
        size += piece.length;
        yield piece;
        if (size > MAX_SECONDS * HEARD_BYTES_PER_SECOND) return;
      }
    };
    for await (const { start, end, wave } of stretchesOf(counted())) {
      const reply = await models.ask({ places: moonshineIn(folder), order: { wave }, signal: ctx.signal });
      const text = "text" in reply ? reply.text : "";
      if (text !== "") segments.push({ start: rounded(start), end: rounded(end), text });
      ctx.progress({ message: `heard ${end.toFixed(0)} s`, chunk: `${text} ` });
    }
    if (size === 0) throw silent(sound.name);
    const seconds = size / HEARD_BYTES_PER_SECOND;
    return { segments, text: joined(segments), language: "en", seconds, truncated: seconds > MAX_SECONDS };
  },
};

function homeOf({ settings }: CallContext): string {
  return typeof settings.hermes_home === "string" ? settings.hermes_home : "";
}

/** The command line of github.com/ggml-org/whisper.cpp (examples/cli). */
const whisper: Listener = {
  name: "whisper",
  async missing(_request, ctx) {
    const { exitCode } = await ctx.environment.exec({
      command: ["whisper-cli", "--help"],
      cwd: ctx.session.cwd,
      timeoutMs: 10_000,
      signal: ctx.signal,
      maxOutputChars: 1_000,
    });
    if (exitCode !== 0) return "the program whisper-cli";
    return wordOf(ctx.settings.stt, "model") === undefined ? "stt.model, the file of a model" : undefined;
  },
  async listen({ sound, language }, ctx) {
    const model = ctx.environment.files.resolve(wordOf(ctx.settings.stt, "model") ?? "", ctx.session.cwd);
    const { pcm, truncated } = await hearUpTo(sound, MAX_SECONDS, ctx);
    const english = /\.en[.-]/.test(model);
    const output: Uint8Array[] = [];
    const words = throughProgram({
      command: ["whisper-cli", "-m", model, "-f", "-", "-l", language ?? (english ? "en" : "auto"), "-np"],
      input: [wavFile({ samples: pcm, rate: HEARD_RATE, channels: 1 })],
      cwd: ctx.session.cwd,
      ctx,
      sandbox: { read: [model] },
      failure: (code) =>
        code === 127
          ? missingProgram("whisper-cli", "whisper.cpp")
          : new ToolError(`whisper-cli failed (exit code ${code}).`, {
              hint: `Check that stt.model names a model of whisper.cpp: ${model}`,
            }),
    });
    for await (const piece of words) output.push(piece);
    const segments = whisperSegments(Buffer.concat(output).toString("utf8"));
    return {
      segments,
      text: joined(segments),
      language: language ?? (english ? "en" : undefined),
      seconds: pcm.length / HEARD_BYTES_PER_SECOND,
      truncated,
    };
  },
};

const WHISPER_LINE = /^\[(\d+):(\d+):([\d.,]+) --> (\d+):(\d+):([\d.,]+)\]\s*(.*)$/;

export function whisperSegments(output: string): readonly Segment[] {
  return output.split("\n").flatMap((line) => {
    const parts = WHISPER_LINE.exec(line.trim());
    if (parts === null) return [];
    const [, h1, m1, s1, h2, m2, s2, text = ""] = parts;
    return [{ start: secondsOf(h1, m1, s1), end: secondsOf(h2, m2, s2), text: text.trim() }];
  });
}

function secondsOf(hours = "0", minutes = "0", seconds = "0"): number {
  return rounded(Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(",", ".")));
}

const TIMEOUT_MS = 600_000;
const MAX_ANSWER_BYTES = 20 * 1024 * 1024;
/** OpenAI takes 25 MB; room is left for the rest of the message. */
const MAX_SENT_BYTES = 24 * 1024 * 1024;
/** By the endings of platform.openai.com/docs/guides/speech-to-text. */
const SENT_AS_IT_IS = /\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|oga|wav|webm)$/i;

/** platform.openai.com/docs/api-reference/audio/createTranscription; others offer the same interface. */
const openai: Listener = {
  name: "openai",
  missing(_request, ctx) {
    const base = wordOf(ctx.settings.stt, "base_url");
    if (base !== undefined || ctx.secrets.get("OPENAI_API_KEY") !== undefined) return undefined;
    return "stt.base_url or OPENAI_API_KEY";
  },
  async listen({ sound, language }, ctx) {
    const base = wordOf(ctx.settings.stt, "base_url") ?? OPENAI;
    const model = wordOf(ctx.settings.stt, "model") ?? "whisper-1";
    const asItIs = sound.size <= MAX_SENT_BYTES && SENT_AS_IT_IS.test(sound.name);
    const bytes = asItIs ? await sound.bytes() : await compressForSending({ source: sound.open(), ctx });
    const form = new FormData();
    form.set("file", new Blob([Uint8Array.from(bytes)]), asItIs ? sound.name : "sound.ogg");
    form.set("model", model);
    // Only the whisper models tell of times; the newer ones refuse to be asked.
    form.set("response_format", /^gpt-/.test(model) ? "json" : "verbose_json");
    if (language !== undefined) form.set("language", language.replace(/-.*$/, ""));
    const packed = new Response(form);
    const key = serverKey(base, "STT_API_KEY", ctx);
    const response = await askServer(
      {
        server: new URL(base).host,
        keyName: base === OPENAI ? "OPENAI_API_KEY" : "STT_API_KEY",
        url: interfaceUrl(base, "/audio/transcriptions"),
        method: "POST",
        headers: {
          "content-type": packed.headers.get("content-type") ?? "multipart/form-data",
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        body: new Uint8Array(await packed.arrayBuffer()),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      },
      ctx,
    );
    return serverAnswer(await response.text(), language);
  },
};

function serverAnswer(body: string, language: string | undefined): Heard {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (cause) {
    throw new ToolError("The server did not answer in JSON.", { hint: "Check stt.base_url.", cause });
  }
  if (!isRecord(answer) || typeof answer.text !== "string")
    throw new ToolError("The server's answer holds no text.", { hint: "Check stt.base_url and stt.model." });
  const rows = Array.isArray(answer.segments) ? answer.segments.filter(isRecord) : [];
  return {
    text: answer.text.trim(),
    segments: rows.map((row) => ({
      start: rounded(Number(row.start) || 0),
      end: rounded(Number(row.end) || 0),
      text: String(row.text ?? "").trim(),
    })),
    language: typeof answer.language === "string" ? answer.language : language,
    seconds: Number.isFinite(Number(answer.duration ?? Number.NaN)) ? Number(answer.duration) : undefined,
  };
}

/** In the order in which they are looked at: what runs here first. */
const LISTENERS: readonly Listener[] = [moonshine, whisper, openai];

/** The one of the settings, else the first that has what it needs. */
export async function chooseListener(request: ListenRequest, ctx: CallContext): Promise<Listener> {
  const wanted = wordOf(ctx.settings.stt, "provider") ?? "auto";
  const lacking: string[] = [];
  for (const listener of LISTENERS) {
    if (wanted !== "auto" && wanted !== listener.name) continue;
    const missing = await listener.missing(request, ctx);
    if (missing === undefined) return listener;
    lacking.push(`${listener.name} lacks ${missing}`);
  }
  throw new ToolError(`Nobody here can listen: ${lacking.join("; ")}.`, {
    code: "unavailable",
    hint: `Run \`${SPEECH_COMMAND}\`, or set stt.base_url to a server that transcribes.`,
  });
}

export function joined(segments: readonly Segment[]): string {
  return segments
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join(" ");
}

export function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
