import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath, locate } from "../files/paths.js";
import { speechPath } from "./speech/speech-path.js";

interface SpeechAnswer {
  readonly success: true;
  readonly status: "success";
  readonly path: string;
  readonly format: string;
  readonly codec: string;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly bytes: number;
  readonly provider: string;
  readonly voice: string;
}

export default defineTool({
  name: "text_to_speech",
  toolset: "tts",
  emoji: "🔊",
  description: "Speak text into a sound file. The ending of output_path decides: .wav, .mp3 or .ogg (Opus).",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", minLength: 1, maxLength: 50_000 },
      output_path: { type: "string", description: "speech-….wav in the working folder unless set" },
      voice: { type: "string", description: "By the name the provider gives it" },
    },
    required: ["text"],
    additionalProperties: false,
  },
  permissions: ["file:write"],
  effects: (args, scope) => [
    {
      action: "file:write",
      resource: absolutePath(speechPath(args).path, scope),
      mode: "write",
      reversible: false,
    },
  ],
  needs: {
    anyOf: [
      { models: ["kokoro"] },
      { programs: ["espeak-ng"] },
      { anySetting: ["tts.base_url"] },
      { anyEnv: ["OPENAI_API_KEY", "ELEVENLABS_API_KEY"] },
    ],
    fix: "hermes setup speech",
  },
  timeoutMs: 900_000,

  async handler(args, ctx): Promise<SpeechAnswer> {
    const { path, format } = speechPath(args);
    if (format === undefined) {
      throw new ToolError(`${path} has no ending of a sound file that can be written.`, {
        code: "invalid_arguments",
        hint: "Name a file that ends in .wav, .mp3 or .ogg.",
      });
    }
    const { speakInto } = await import("./speech/speak-into.js");
    const location = await locate(path, ctx);
    const spoken = await speakInto({ text: args.text, voice: args.voice, format, location, ctx });
    return { success: true, status: "success", path: location.path, ...spoken };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `🔊 ${mark.path(out.path)} ${mark.dim(
      [
        out.duration === undefined ? undefined : `${out.duration.toFixed(1)} s`,
        `${out.codec} by ${out.provider}, voice ${out.voice}`,
      ]
        .filter(Boolean)
        .join(", "),
    )}`,
  }),

  examples: [
    {
      title: "Say a sentence into a file",
      programs: ["espeak-ng"],
      arguments: { text: "The build is done.", output_path: "done.wav" },
      result: { success: true, format: "wav" },
    },
  ],
});
