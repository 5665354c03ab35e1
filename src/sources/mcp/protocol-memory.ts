import type { Client, DiscoverResult, PriorDiscovery } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { ServerMemory } from "./pin-rows.js";

/** A server may be brought up to date; after this time it is asked again which protocol it speaks. */
const OUTDATED_MS = 7 * 24 * 3_600_000;

/** What the SDK can be told beforehand, so that it need not find out by trying. */
export function priorOf(memory: ServerMemory | undefined): PriorDiscovery | undefined {
  if (memory?.era === undefined || Date.now() - memory.eraAt > OUTDATED_MS) return undefined;
  if (memory.era === "legacy") return { kind: "legacy" };
  try {
    const discover: unknown = JSON.parse(memory.discover ?? "");
    return isRecord(discover) && Array.isArray(discover.supportedVersions)
      ? { kind: "modern", discover: discover as unknown as DiscoverResult }
      : undefined;
  } catch {
    return undefined;
  }
}

export function eraOf(client: Client): Pick<ServerMemory, "era" | "discover" | "eraAt"> {
  const discover = client.getDiscoverResult();
  return {
    era: client.getProtocolEra(),
    discover: discover === undefined ? undefined : JSON.stringify(discover),
    eraAt: Date.now(),
  };
}
