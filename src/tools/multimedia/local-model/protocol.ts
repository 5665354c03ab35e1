/** What the process that runs a model for speech is told when it starts. */
export type SpeechPlaces =
  | {
      readonly kind: "moonshine";
      readonly runtime: string;
      readonly encoder: string;
      readonly decoder: string;
      readonly tokenizer: string;
      readonly threads: number;
    }
  | {
      readonly kind: "kokoro";
      readonly runtime: string;
      readonly model: string;
      readonly voices: string;
      readonly phonemizer: string;
      readonly threads: number;
    };

export type SpeechOrder =
  /** Sound of 16 kHz, numbers between -1 and 1. */
  | { readonly id: number; readonly wave: Float32Array }
  | { readonly id: number; readonly text: string; readonly voice: string };

export type SpeechReply =
  | { readonly id: number; readonly text: string }
  /** Sound of `KOKORO_RATE`. */
  | { readonly id: number; readonly wave: Float32Array }
  | { readonly id: number; readonly error: string };

export const KOKORO_RATE = 24_000;
