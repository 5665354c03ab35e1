import { basename } from "node:path";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../../files/path-guard.js";
import { locate } from "../../files/paths.js";
import { type AudioSource, decodeAudio, HEARD_BYTES_PER_SECOND } from "../ffmpeg.js";

/** Something to listen to. */
export interface Sound {
  /** With its ending, as servers want to know it. */
  readonly name: string;
  readonly size: number;
  /** For ffmpeg, anew each time. */
  open(): AudioSource;
  bytes(): Promise<Uint8Array>;
}

const MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024;
const DOWNLOAD_TIMEOUT_MS = 300_000;

export async function soundOfFile(given: string, ctx: CallContext): Promise<Sound> {
  const location = await locate(given, ctx);
  refuseDevice(location);
  const { files } = ctx.environment;
  const stat = await files.stat(location.real);
  if (stat?.type !== "file" || stat.size === 0) {
    const why = stat === undefined ? "is not there" : stat.type === "file" ? "is empty" : "is not a file";
    throw new ToolError(`${location.path} ${why}.`, {
      code: stat === undefined ? "not_found" : "invalid_arguments",
      hint: "Name a file of sound, absolute or relative to the working directory.",
    });
  }
  const head = Buffer.from(await files.read(location.real, { start: 0, end: 12 }));
  return {
    name: basename(location.path),
    size: stat.size,
    // An MP4 may have its table of contents at the end, and nobody can go back in a pipe.
    open: () => (isMp4(head) ? { path: location.real } : { bytes: files.stream(location.real) }),
    bytes: () => files.read(location.real),
  };
}

export async function soundAt(url: string, ctx: CallContext): Promise<Sound> {
  const response = await ctx.fetch({
    url,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    maxBytes: MAX_DOWNLOAD_BYTES,
    hints: { tooLarge: "Download it into a file, cut out the part that matters, and name that file." },
  });
  const bytes = await response.bytes();
  if (!response.ok)
    throw new ToolError(`${url} answered ${response.status}.`, { hint: "Check the address." });
  const name = basename(decodeURIComponent(new URL(response.url).pathname)) || "sound";
  return {
    name: /\.\w{2,4}$/.test(name) ? name : `${name}${endingFor(response.headers.get("content-type"))}`,
    size: bytes.length,
    open: () => ({ bytes: [bytes] }),
    bytes: async () => bytes,
  };
}

const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/mpeg|mp3/, ".mp3"],
  [/wav/, ".wav"],
  [/ogg|opus/, ".ogg"],
  [/flac/, ".flac"],
  [/webm/, ".webm"],
  [/mp4|m4a|aac/, ".m4a"],
];

function endingFor(type: string | null): string {
  return ENDINGS.find(([pattern]) => pattern.test(type ?? ""))?.[1] ?? ".bin";
}

function isMp4(head: Buffer): boolean {
  return head.toString("latin1", 4, 8) === "ftyp";
}

/** The sound as 16 kHz, one channel, in memory, up to a length. */
export async function hearUpTo(
  sound: Sound,
  maxSeconds: number,
  ctx: CallContext,
): Promise<{ readonly pcm: Buffer; readonly truncated: boolean }> {
  const most = maxSeconds * HEARD_BYTES_PER_SECOND;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of decodeAudio({ source: sound.open(), ctx })) {
    parts.push(piece);
    size += piece.length;
    if (size > most) break;
  }
  if (size === 0) throw silent(sound.name);
  return { pcm: Buffer.concat(parts).subarray(0, most), truncated: size > most };
}

export function silent(name: string): ToolError {
  return new ToolError(`${name} holds no sound.`, {
    code: "invalid_arguments",
    hint: "Name a file of sound or a film with sound: wav, mp3, ogg, flac, m4a, mp4, webm …",
  });
}
