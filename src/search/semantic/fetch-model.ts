import { type FetchProgress, type FetchReport, fetchWeights } from "../../weights/fetch-weights.js";
import { wantedPackages } from "./model-files.js";

/** Fetches the model that finds tools by meaning. */
export function fetchModel(options: {
  readonly folder: string;
  readonly onProgress?: (progress: FetchProgress) => void;
}): Promise<FetchReport> {
  return fetchWeights({
    ...options,
    packages: wantedPackages(),
    command: "hermes setup search",
    meanwhile: "Until then tools are found by words alone.",
  });
}
