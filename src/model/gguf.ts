import type { ModelClient } from "./model-client.js";
export type LoadPackage = (name: string) => Promise<unknown>;
export function ggufClient(_options: { path: string; loadPackage: LoadPackage | undefined }): ModelClient {
  throw new Error("in the making");
}
