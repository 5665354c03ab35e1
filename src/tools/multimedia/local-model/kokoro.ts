import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openNativeSession } from "../../../weights/native-session.js";
import { KOKORO_RATE, type SpeechPlaces } from "./protocol.js";

/** The signs of speech the model knows, by their numbers (huggingface.co/hexgrad/Kokoro-82M, config.json). */
const SIGNS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    '; 1|: 2|, 3|. 4|! 5|? 6|— 9|… 10|" 11|( 12|) 13|“ 14|” 15|\u0303 17|ʣ 18|ʥ 19|ʦ 20|ʨ 21|ᵝ 22|ꭧ 23|A 24|I 25|O 31|' +
    "Q 33|S 35|T 36|W 39|Y 41|ᵊ 42|a 43|b 44|c 45|d 46|e 47|f 48|h 50|i 51|j 52|k 53|l 54|m 55|n 56|o 57|p 58|q 59|" +
    "r 60|s 61|t 62|u 63|v 64|w 65|x 66|y 67|z 68|ɑ 69|ɐ 70|ɒ 71|æ 72|β 75|ɔ 76|ɕ 77|ç 78|ɖ 80|ð 81|ʤ 82|ə 83|ɚ 85|" +
    "ɛ 86|ɜ 87|ɟ 90|ɡ 92|ɥ 99|ɨ 101|ɪ 102|ʝ 103|ɯ 110|ɰ 111|ŋ 112|ɳ 113|ɲ 114|ɴ 115|ø 116|ɸ 118|θ 119|œ 120|ɹ 123|" +
    "ɾ 125|ɻ 126|ʁ 128|ɽ 129|ʂ 130|ʃ 131|ʈ 132|ʧ 133|ʊ 135|ʋ 136|ʌ 138|ɣ 139|ɤ 140|χ 142|ʎ 143|ʒ 147|ʔ 148|ˈ 156|" +
    "ˌ 157|ː 158|ʰ 162|ʲ 164|↓ 169|→ 171|↗ 172|↘ 173|ᵻ 177"
  )
    .split("|")
    .map((row) => row.split(" "))
    .map(([sign = "", number = "0"]) => [sign, Number(number)] as const)
    .concat([[" ", 16]]),
);

/** Numbers of a voice for each length of text. */
const STYLE_NUMBERS = 256;
/** Without the marks at both ends. */
const MOST_SIGNS = 500;
const PAUSE_SECONDS = 0.25;
const PUNCTUATION = /([;:,.!?¡¿—…"«»“”()]+)/;

interface Phonemizer {
  phonemize(text: string, language: string): Promise<readonly string[]>;
}

export interface Kokoro {
  /** A sentence, with a pause behind it. */
  speak(text: string, voice: string): Promise<Float32Array>;
}

export async function openKokoro(
  places: Extract<SpeechPlaces, { readonly kind: "kokoro" }>,
): Promise<Kokoro> {
  const session = openNativeSession(places);
  const { phonemize } = (await import(pathToFileURL(places.phonemizer).href)) as Phonemizer;
  const signsInput = session.inputNames.find((name) => /^(?:input_ids|tokens)$/.test(name)) ?? "input_ids";
  const [waveOutput = "waveform"] = session.outputNames;
  return {
    async speak(text, voice) {
      const styles = await readVoice(join(places.voices, `${voice}.bin`));
      // Voices are named by their accent: af_heart is American, bf_emma British.
      const language = voice.startsWith("b") ? "en" : "en-us";
      const parts: Float32Array[] = [];
      for (const signs of inParts(await signsOf(text, language, phonemize))) {
        const style = styles.slice(signs.length * STYLE_NUMBERS, (signs.length + 1) * STYLE_NUMBERS);
        const ids = BigInt64Array.from([0, ...signs, 0], BigInt);
        const answer = session.run({
          [signsInput]: { type: "int64", data: ids, dims: [1, ids.length] },
          style: { type: "float32", data: style, dims: [1, STYLE_NUMBERS] },
          speed: { type: "float32", data: Float32Array.of(1), dims: [1] },
        });
        parts.push(answer[waveOutput]?.data ?? new Float32Array(0));
        parts.push(new Float32Array(PAUSE_SECONDS * KOKORO_RATE));
      }
      return joined(parts);
    },
  };
}

async function readVoice(path: string): Promise<Float32Array> {
  const bytes = await readFile(path);
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

/** How a sentence sounds: espeak says the words, and the marks between them stay as they are. */
async function signsOf(
  sentence: string,
  language: string,
  phonemize: Phonemizer["phonemize"],
): Promise<readonly number[]> {
  let sounds = "";
  for (const part of sentence.split(PUNCTUATION)) {
    if (PUNCTUATION.test(part) || part.trim() === "") sounds += part;
    else {
      const before = /^\s/.test(part) ? " " : "";
      const after = /\s$/.test(part) ? " " : "";
      sounds += `${before}${(await phonemize(part.trim(), language)).join(" ")}${after}`;
    }
  }
  // The model learnt from another spelling than espeak's.
  const learnt = sounds.replaceAll("ʲ", "j").replaceAll("r", "ɹ").replaceAll("x", "k").replaceAll("ɬ", "l");
  return [...learnt.trim()].flatMap((sign) => (Object.hasOwn(SIGNS, sign) ? [SIGNS[sign] ?? 0] : []));
}

/** Sentences that are too long are cut at a blank. */
function inParts(signs: readonly number[]): readonly (readonly number[])[] {
  if (signs.length === 0) return [];
  if (signs.length <= MOST_SIGNS) return [signs];
  const blank = signs.lastIndexOf(SIGNS[" "] ?? 0, MOST_SIGNS);
  const cut = blank > 0 ? blank : MOST_SIGNS;
  return [signs.slice(0, cut), ...inParts(signs.slice(cut))];
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
