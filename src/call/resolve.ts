import type { Status } from "../registry/availability.js";
import type { Entry } from "../registry/entry.js";
import { type Failure, failure } from "../tool/errors.js";
import type { HostCapabilities, HostCapability } from "../tool/host-capabilities.js";
import type { CallRecord } from "./call-record.js";

/** Name → entry of the session's view, loaded and available. */
export function resolve(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  const { target, scope } = call;
  if (call.misdirected !== undefined) return call.misdirected;
  const found = scope.bridge?.find(target.name) ?? scope.view.find(target.name);
  if ("code" in found) return toldOf(call, found);
  const { entry } = found;
  call.entry = entry;
  call.spelling = found.spelling;
  if (call.keepsVersion) {
    // From here on: while a person is asked, a reload must not take apart what they are asked about.
    entry.pin();
    call.pinned = true;
  }
  if (entry.host !== undefined && !provides(scope.host, entry.host)) {
    return failure(
      "unavailable",
      `${entry.name} must be handled by the agent loop`,
      `Call it from an agent session that provides "${entry.host}".`,
    );
  }
  const status = scope.services.availability.statusOf(entry);
  if (status instanceof Promise || entry.tool === undefined || entry.decoder === undefined) {
    return getReady(call, status);
  }
  call.tool = entry.tool;
  return canRun(status) ? undefined : notAvailable(entry, status);
}

function canRun({ ok, awaited }: Status): boolean {
  return ok || awaited === true;
}

/** The person at a command line chose the scope and is told of it; whoever is inside it learns nothing of the rest. */
function toldOf({ scope, target }: CallRecord, found: Failure): Failure {
  return scope.door === "cli" || found.code === "unavailable" ? found : scope.view.unknown(target.name);
}

async function getReady(call: CallRecord, status: Status | Promise<Status>): Promise<Failure | undefined> {
  const known = await status;
  if (!canRun(known)) return notAvailable(call.entry, known);
  call.tool = await call.entry.load();
  return undefined;
}

function notAvailable(entry: Entry, status: Status): Failure {
  return failure(
    "unavailable",
    `${entry.name} is not available: ${status.reason ?? "its check failed"}`,
    status.fix,
  );
}

export function provides(host: HostCapabilities, capability: HostCapability): boolean {
  return Object.hasOwn(host, capability) && host[capability] !== undefined;
}
