import type { Effect, EffectScope } from "../../../tool/effects.js";
import { absolutePath } from "../../files/paths.js";
import { objectPath } from "./place.js";

export interface StorageArguments {
  readonly action: "list" | "get" | "put" | "delete" | "presign" | "copy";
  readonly bucket: string;
  readonly key?: string | undefined;
  readonly path?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly to?: string | undefined;
  readonly method: "GET" | "PUT";
}

export function storageEffects(args: StorageArguments, scope: EffectScope): readonly Effect[] {
  const { action, bucket, key = "", endpoint, to } = args;
  const writes =
    action === "put" ||
    action === "delete" ||
    action === "copy" ||
    (action === "presign" && args.method === "PUT");
  const resource = `s3:${endpoint ?? ""}/${bucket}/${action === "copy" ? (to ?? "") : key}`;
  const stored: Effect[] = [
    writes
      ? {
          action: "storage:write",
          resource,
          mode: "write",
          reversible: false,
          ...(action === "delete" && { ask: { reason: `deletes ${key} in the bucket ${bucket}` } }),
        }
      : { action: "storage:read", resource, mode: "read" },
  ];
  // An address that a model named is judged like any other; a configured one needs no leave.
  if (endpoint !== undefined && URL.canParse(endpoint) && endpoint.includes("://") && action !== "presign") {
    const object = action === "list" ? "" : action === "copy" ? (to ?? "") : key;
    const url = `${new URL(endpoint).origin}${objectPath(bucket, object)}`;
    stored.push({
      action: writes ? "network:write" : "network:fetch",
      resource: url,
      mode: writes ? "write" : "read",
    });
  }
  if (action === "copy")
    stored.push({ action: "storage:read", resource: `s3:${endpoint ?? ""}/${bucket}/${key}`, mode: "read" });
  if (action === "put" && args.path !== undefined)
    stored.push({ action: "file:read", resource: absolutePath(args.path, scope), mode: "read" });
  const written =
    action === "get" ? (args.path ?? lastPart(key)) : action === "presign" ? args.path : undefined;
  if (written !== undefined)
    stored.push({
      action: "file:write",
      resource: absolutePath(written, scope),
      mode: "write",
      reversible: false,
    });
  return stored;
}

/** What a downloaded object is called unless somebody says. */
export function lastPart(key: string): string {
  return (
    key
      .split("/")
      .filter((part) => part !== "")
      .at(-1) ?? "object"
  );
}
