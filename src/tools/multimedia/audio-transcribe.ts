import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import type { Segment } from "./transcribe/listeners.js";

interface TranscribeAnswer {
  readonly success: true;
  readonly status: "success";
  readonly text: string;
  readonly segments?: readonly Segment[] | undefined;
  readonly language?: string | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  /** Who listened. */
  readonly provider: string;
  readonly note?: string | undefined;
}

const fromOtherNames = ({ file_path, audio_path, ...args }: Record<string, unknown>) => {
  const path = file_path ?? audio_path;
  return path === undefined ? args : { path, ...args };
};

export default defineTool({
  name: "audio_transcribe",
  aliases: ["transcription", "transcribe_audio"],
  aliasArguments: { transcription: fromOtherNames, transcribe_audio: fromOtherNames },
  toolset: "transcription",
  emoji: "🎙️",
  description: "Write down what is said in a sound or film file, of a path or a url.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      url: { type: "string", format: "uri" },
      language: {
        type: "string",
        pattern: "^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$",
        description: 'As in "en"',
      },
      timestamps: { type: "boolean", default: false, description: "Also segments with their times" },
    },
    additionalProperties: false,
  },
  permissions: ["file:read", "network:fetch"],
  effects: ({ path, url }, scope) => [
    ...(path === undefined
      ? []
      : [{ action: "file:read", resource: absolutePath(path, scope), mode: "read" } as const]),
    ...(url === undefined ? [] : [{ action: "network:fetch", resource: url, mode: "read" } as const]),
  ],
  needs: {
    anyOf: [
      { models: ["moonshine"], programs: ["ffmpeg"] },
      { programs: ["whisper-cli", "ffmpeg"], anySetting: ["stt.model"] },
      { anySetting: ["stt.base_url"] },
      { anyEnv: ["OPENAI_API_KEY"] },
    ],
    fix: "hermes setup speech",
  },
  idempotent: true,
  timeoutMs: 1_800_000,

  async handler({ path, url, language, timestamps }, ctx): Promise<TranscribeAnswer> {
    if ((path === undefined) === (url === undefined)) {
      throw new ToolError("Exactly one of path and url is needed.", {
        code: "invalid_arguments",
        hint: "Give the path of a file, or the address of one.",
      });
    }
    const { soundOfFile, soundAt } = await import("./transcribe/sound.js");
    const { chooseListener, MAX_SECONDS, rounded } = await import("./transcribe/listeners.js");
    const sound = path === undefined ? await soundAt(url ?? "", ctx) : await soundOfFile(path, ctx);
    const request = { sound, language: language?.toLowerCase() };
    const listener = await chooseListener(request, ctx);
    ctx.progress({ message: `${listener.name} listens to ${sound.name}` });
    const heard = await listener.listen(request, ctx);
    ctx.signal.throwIfAborted();
    return {
      success: true,
      status: "success",
      text: heard.text,
      segments: timestamps ? heard.segments : undefined,
      language: heard.language,
      duration: heard.seconds === undefined ? undefined : rounded(heard.seconds),
      provider: listener.name,
      note:
        heard.truncated === true
          ? `Only the first ${MAX_SECONDS / 3_600} hours were listened to; the file is longer.`
          : undefined,
    };
  },

  untrustedSource: ({ url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      ...(out.segments === undefined || out.segments.length === 0
        ? [out.text]
        : out.segments.map(
            ({ start, end, text: said }) => `${mark.dim(`${clock(start)}–${clock(end)}`)} ${said}`,
          )),
      mark.dim(
        [out.duration === undefined ? undefined : `${out.duration} s`, out.language, `by ${out.provider}`]
          .filter(Boolean)
          .join(", "),
      ),
      ...(out.note === undefined ? [] : [mark.warning(out.note)]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Write down a voice message, with a server of one's own",
      settings: { "stt.provider": "openai", "stt.base_url": "{server}" },
      pages: {
        "/v1/audio/transcriptions": '{"text":"See you at ten.","language":"english","duration":1.4}',
      },
      files: { "message.ogg": "OggS" },
      arguments: { path: "message.ogg" },
      result: { success: true, text: "See you at ten.", duration: 1.4 },
    },
  ],
});

function clock(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - minutes * 60).toFixed(1).padStart(4, "0")}`;
}
