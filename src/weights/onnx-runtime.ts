import { join } from "node:path";
import type { WantedPackage } from "./wanted.js";

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

/** The runtime that every model here runs on; undefined where it does not exist for the machine. */
export function runtimePackage(machine: Machine = process): WantedPackage | undefined {
  const kind = `${machine.platform}/${machine.arch}`;
  const files = RUNTIME_FILES[kind];
  if (files === undefined) return undefined;
  return {
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
}

/** Its native part, in a folder of weights. */
export function runtimeIn(folder: string): string {
  return join(folder, RUNTIME_FOLDER, "onnxruntime_binding.node");
}
