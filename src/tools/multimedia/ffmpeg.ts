import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { throughProgram } from "../files/program-filter.js";

/** What the models for speech listen to. */
export const HEARD_RATE = 16_000;
export const HEARD_BYTES_PER_SECOND = HEARD_RATE * 2;

/**
 * Forms of sound that are opened. Lists of other files (HLS, concat and the like) are not among them: such a file could
 * have others read, or an address fetched.
 */
const READ_FORMATS =
  "wav,w64,mp3,ogg,flac,mov,matroska,aac,aiff,caf,au,amr,asf,avi,mpeg,mpegts,ac3,ape,wv,tta,opus,webm";
const QUIET = ["-nostdin", "-hide_banner", "-loglevel", "quiet"];
/** No pictures, no subtitles, one channel. */
const ONE_VOICE = ["-vn", "-sn", "-dn", "-ac", "1", "-ar", String(HEARD_RATE)];

/** By the ending of the file. An `.ogg` is Opus: what sends voice messages plays no other. */
const ENCODERS = {
  mp3: ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0", "-f", "mp3"],
  ogg: ["-c:a", "libopus", "-b:a", "48k", "-ac", "1", "-f", "ogg"],
} as const;

/** A file in the environment, or bytes. */
export type AudioSource =
  | { readonly path: string }
  | { readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

/** WAV in, the wanted form out. */
export function encodeAudio(options: {
  readonly wav: Uint8Array;
  readonly format: keyof typeof ENCODERS;
  readonly ctx: CallContext;
}): Promise<Buffer> {
  const { wav, format, ctx } = options;
  const command = ["ffmpeg", ...QUIET, "-f", "wav", "-i", "pipe:0", ...ENCODERS[format], "pipe:1"];
  return wholeOf(
    throughProgram({
      command,
      input: [wav],
      cwd: ctx.session.cwd,
      ctx,
      failure: (code) => ffmpegFailed(code, `could not make ${format}`),
    }),
  );
}

/** Sound of any kind as 16 kHz, one channel, 16 bits, as it is decoded; ffmpeg ends when nobody wants the rest. */
export function decodeAudio(options: {
  readonly source: AudioSource;
  readonly ctx: CallContext;
}): AsyncGenerator<Uint8Array> {
  return readWithFfmpeg({ ...options, to: [...ONE_VOICE, "-f", "s16le", "pipe:1"] });
}

/** The same, small enough to be sent somewhere. */
export function compressForSending(options: {
  readonly source: AudioSource;
  readonly ctx: CallContext;
}): Promise<Buffer> {
  const codec = ["-c:a", "libopus", "-b:a", "24k", "-f", "ogg", "pipe:1"];
  return wholeOf(readWithFfmpeg({ ...options, to: [...ONE_VOICE, ...codec] }));
}

function readWithFfmpeg(options: {
  readonly source: AudioSource;
  readonly to: readonly string[];
  readonly ctx: CallContext;
}): AsyncGenerator<Uint8Array> {
  const { source, to, ctx } = options;
  const isFile = "path" in source;
  const from = isFile ? `file:${source.path}` : "pipe:0";
  const allowed = ["-protocol_whitelist", isFile ? "file" : "pipe", "-format_whitelist", READ_FORMATS];
  return throughProgram({
    command: ["ffmpeg", ...QUIET, ...allowed, "-i", from, ...to],
    input: isFile ? [] : source.bytes,
    cwd: ctx.session.cwd,
    ctx,
    ...(isFile && { sandbox: { read: [source.path] } }),
    failure: (code) => ffmpegFailed(code, "could not read this as sound"),
  });
}

async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

const NOT_FOUND = 127;

function ffmpegFailed(code: number, what: string): ToolError {
  return code === NOT_FOUND
    ? missingProgram("ffmpeg", "ffmpeg")
    : new ToolError(`ffmpeg ${what} (exit code ${code}).`, {
        hint: "Check that the file is whole and holds sound: `ffprobe FILE` says what it is.",
      });
}

export function missingProgram(program: string, debianPackage: string): ToolError {
  return new ToolError(`${program} is not installed in the environment of this session.`, {
    code: "unavailable",
    hint: `Install it there: apt-get install ${debianPackage}`,
  });
}
