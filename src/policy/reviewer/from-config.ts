import type { Reviewer } from "../../call/scope.js";
import type { HermesConfig } from "../../config/types.js";
import { createReviewer } from "./reviewer.js";

/** The reviewer a configuration names; without one, "smart" asks the person like "manual" does. */
export function reviewerFrom(
  { approvals }: HermesConfig,
  redact: (text: string) => string,
): Reviewer | undefined {
  const { url, model, api_key: apiKey, timeout } = approvals.reviewer;
  if (approvals.mode !== "smart" || url.trim() === "" || model.trim() === "") return undefined;
  return createReviewer({ url: url.trim(), model: model.trim(), apiKey, timeoutMs: timeout * 1000, redact });
}
