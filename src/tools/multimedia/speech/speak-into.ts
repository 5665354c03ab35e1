import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../../files/path-guard.js";
import type { Location } from "../../files/paths.js";
import { writeVerified } from "../../files/write-verified.js";
import { type ProbedAudio, probeAudio } from "../audio-bytes.js";
import { encodeAudio } from "../ffmpeg.js";
import { wordOf } from "../speech-server.js";
import { chooseSpeaker, mendedWav, type SpeechFormat } from "./speakers.js";

/** What a file of each kind must hold; a player that expects it stays silent otherwise. */
const CODECS: Readonly<Record<SpeechFormat, string>> = { wav: "pcm_s16le", mp3: "mp3", ogg: "opus" };

/** Speaks, brings it into the wanted form, looks at what came out, and only then writes the file. */
export async function speakInto(options: {
  readonly text: string;
  readonly voice: string | undefined;
  readonly format: SpeechFormat;
  readonly location: Location;
  readonly ctx: CallContext;
}) {
  const { text, format, location, ctx } = options;
  if (text.trim() === "" || text.includes("\0")) {
    throw new ToolError("There is nothing to say in this text.", {
      code: "invalid_arguments",
      hint: "Send plain text with words in it.",
    });
  }
  refuseDevice(location);
  const speaker = await chooseSpeaker(ctx);
  if (text.length > speaker.maxChars) {
    throw new ToolError(
      `The text has ${text.length} characters; ${speaker.name} takes ${speaker.maxChars}.`,
      {
        code: "invalid_arguments",
        hint: "Speak it in parts, each into a file of its own.",
      },
    );
  }
  ctx.progress({ message: `${speaker.name} speaks ${text.length} characters` });
  const voice = options.voice ?? wordOf(ctx.settings.tts, "voice");
  const spoken = await speaker.speak({ text, voice, format }, ctx);
  const raw = spoken.format === "wav" ? mendedWav(spoken.bytes) : spoken.bytes;
  const bytes =
    spoken.format === format || format === "wav" ? raw : await encodeAudio({ wav: raw, format, ctx });
  const { codec, seconds } = checked(probeAudio(bytes), { format, by: speaker.name });
  await writeVerified({ real: location.real, bytes, ctx });
  return {
    format,
    codec,
    duration: seconds === undefined ? undefined : Math.round(seconds * 100) / 100,
    bytes: bytes.length,
    provider: speaker.name,
    voice: spoken.voice,
  };
}

function checked(
  found: ProbedAudio | undefined,
  wanted: { readonly format: SpeechFormat; readonly by: string },
): ProbedAudio {
  const isRight = found?.container === wanted.format && found.codec === CODECS[wanted.format];
  if (found !== undefined && isRight && found.seconds !== 0) return found;
  const got = found === undefined ? "no sound" : `${found.codec} in ${found.container}`;
  throw new ToolError(`${wanted.by} gave ${got} instead of ${CODECS[wanted.format]}; nothing was written.`, {
    hint: "Try another format (.wav, .mp3, .ogg), or another provider with tts.provider.",
  });
}
