/** What a file of sound really holds, whatever its name says. */
export interface ProbedAudio {
  readonly container: "wav" | "mp3" | "ogg" | "flac" | "mp4";
  readonly codec: string;
  /** Left out where the bytes alone do not tell. */
  readonly seconds?: number | undefined;
}

export interface Pcm {
  readonly samples: Uint8Array;
  readonly rate: number;
  readonly channels: number;
}

const BYTES_PER_SAMPLE = 2;
const WAV_HEADER_BYTES = 44;
const PCM_TAG = 1;

/** Undefined for what is no sound, or in a form that nothing here makes or expects. */
export function probeAudio(bytes: Uint8Array): ProbedAudio | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begins = (text: string, at = 0) => view.toString("latin1", at, at + text.length) === text;
  if (begins("RIFF") && begins("WAVE", 8)) return probeWav(view);
  if (begins("OggS")) return probeOgg(view);
  if (begins("fLaC")) return { container: "flac", codec: "flac" };
  if (begins("ftyp", 4)) return { container: "mp4", codec: "unknown" };
  return probeMp3(view);
}

function probeWav(bytes: Buffer): ProbedAudio | undefined {
  const wav = wavParts(bytes);
  if (wav === undefined) return undefined;
  const { rate, channels, bits, tag, samples } = wav;
  return {
    container: "wav",
    codec: tag === PCM_TAG ? `pcm_s${bits}le` : `tag ${tag}`,
    seconds: samples.length / ((rate * channels * bits) / 8),
  };
}

function wavParts(bytes: Buffer) {
  let format: { tag: number; channels: number; rate: number; bits: number } | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === "fmt " && at + 24 <= bytes.length) {
      format = {
        tag: bytes.readUInt16LE(at + 8),
        channels: bytes.readUInt16LE(at + 10),
        rate: bytes.readUInt32LE(at + 12),
        bits: bytes.readUInt16LE(at + 22),
      };
    }
    // Programs that write to a pipe cannot know the size beforehand and put a huge one there.
    if (name === "data" && format !== undefined && format.rate * format.channels * format.bits > 0)
      return { ...format, samples: bytes.subarray(at + 8, at + 8 + size) };
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** The samples of a WAV file with 16 bits each; undefined for any other kind. */
export function pcmOf(wav: Uint8Array): Pcm | undefined {
  const parts = wavParts(Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength));
  return parts?.tag === PCM_TAG && parts.bits === 8 * BYTES_PER_SAMPLE ? parts : undefined;
}

/** A WAV file of samples with 16 bits each. */
export function wavFile({ samples, rate, channels }: Pcm): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM_TAG, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(channels * BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** Numbers between -1 and 1, as models speak and hear them, to samples of 16 bits. */
export function samplesOf(wave: Float32Array): Uint8Array {
  const samples = Buffer.alloc(wave.length * BYTES_PER_SAMPLE);
  for (const [at, value] of wave.entries()) {
    const bounded = Math.max(-1, Math.min(1, value));
    samples.writeInt16LE(Math.round(bounded * 32_767), at * BYTES_PER_SAMPLE);
  }
  return samples;
}

/** Opus is always counted in this many samples a second (RFC 7845). */
const OPUS_RATE = 48_000;

function probeOgg(bytes: Buffer): ProbedAudio {
  const head = bytes.subarray(0, 512).toString("latin1");
  const opus = head.indexOf("OpusHead");
  if (opus < 0) {
    const codec = head.includes("\u0001vorbis") ? "vorbis" : head.includes("FLAC") ? "flac" : "unknown";
    return { container: "ogg", codec };
  }
  const skipped = bytes.readUInt16LE(opus + 10);
  const last = bytes.lastIndexOf("OggS", undefined, "latin1");
  const whole = last >= 0 && last + 14 <= bytes.length ? Number(bytes.readBigInt64LE(last + 6)) : skipped;
  return { container: "ogg", codec: "opus", seconds: Math.max(0, whole - skipped) / OPUS_RATE };
}

/** Kilobits a second of layer III, by the four bits of a frame's head: MPEG 1, then MPEG 2 and 2.5. */
const MP3_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const MP3_SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** Walks from frame to frame: files of changing bit rate tell their length in no other way. */
function probeMp3(bytes: Buffer): ProbedAudio | undefined {
  let at = 0;
  if (bytes.toString("latin1", 0, 3) === "ID3" && bytes.length > 10) {
    const size = [6, 7, 8, 9].reduce((sum, place) => sum * 128 + (bytes[place] ?? 0), 0);
    at = 10 + size;
  }
  let seconds = 0;
  let frames = 0;
  while (at + 4 <= bytes.length) {
    const frame = mp3Frame(bytes.readUInt32BE(at));
    if (frame === undefined) break;
    seconds += frame.seconds;
    frames += 1;
    at += frame.bytes;
  }
  return frames < 2 ? undefined : { container: "mp3", codec: "mp3", seconds };
}

function mp3Frame(head: number): { readonly bytes: number; readonly seconds: number } | undefined {
  const version = (head >>> 19) & 3;
  const isLayer3 = ((head >>> 17) & 3) === 1;
  if (head >>> 21 !== 0x7ff || version === 1 || !isLayer3) return undefined;
  const isFirst = version === 3;
  const kilobits = MP3_RATES[isFirst ? 0 : 1][(head >>> 12) & 15];
  const base = MP3_SAMPLE_RATES[(head >>> 10) & 3];
  if (kilobits === undefined || kilobits === 0 || base === undefined) return undefined;
  const rate = isFirst ? base : version === 2 ? base / 2 : base / 4;
  const samples = isFirst ? 1152 : 576;
  const bytes = Math.floor((samples / 8) * ((kilobits * 1000) / rate)) + ((head >>> 9) & 1);
  return { bytes, seconds: samples / rate };
}
