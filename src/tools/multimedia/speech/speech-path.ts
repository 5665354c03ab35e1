import { createHash } from "node:crypto";
import { extname } from "node:path";
import type { SpeechFormat } from "./speakers.js";

const FORMATS: Readonly<Record<string, SpeechFormat>> = {
  ".wav": "wav",
  ".mp3": "mp3",
  ".ogg": "ogg",
  ".opus": "ogg",
};

/** Where the speech goes and in which form: from the arguments alone, so that it can be told before anything runs. */
export function speechPath(args: {
  readonly text: string;
  readonly output_path?: string | undefined;
  readonly voice?: string | undefined;
}): { readonly path: string; readonly format: SpeechFormat | undefined } {
  const hash = () =>
    createHash("sha256")
      .update(JSON.stringify([args.text, args.voice]))
      .digest("hex");
  const path = args.output_path ?? `speech-${hash().slice(0, 10)}.wav`;
  const ending = extname(path).toLowerCase();
  return { path, format: Object.hasOwn(FORMATS, ending) ? FORMATS[ending] : undefined };
}
