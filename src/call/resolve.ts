import { type Failure, failure } from "../tool/errors.js";
import type { CallRecord } from "./call-record.js";

/** Name → entry of the session's view, loaded and available. */
export async function resolve(call: CallRecord): Promise<Failure | undefined> {
  const { request, scope } = call;
  const found = scope.view.find(request.name);
  if ("code" in found) return found;
  const { entry } = found;
  call.entry = entry;
  call.spelling = found.spelling;
  if (entry.host !== undefined && scope.host[entry.host] === undefined) {
    return failure(
      "unavailable",
      `${entry.name} must be handled by the agent loop`,
      `Call it from an agent session that provides "${entry.host}".`,
    );
  }
  const known = scope.services.availability.statusOf(entry);
  const status = known instanceof Promise ? await known : known;
  if (!status.ok) {
    return failure(
      "unavailable",
      `${entry.name} is not available: ${status.reason ?? "its check failed"}`,
      status.fix,
    );
  }
  call.tool = entry.tool !== undefined && entry.decoder !== undefined ? entry.tool : await entry.load();
  return undefined;
}
