import { createHash, createHmac } from "node:crypto";
import { encodeRfc3986, missingKey, objectPath, type StoragePlace } from "./place.js";

/**
 * An address that opens one object for whoever has it, until it expires. As in Amazon's "Authenticating Requests: Using
 * Query Parameters (AWS Signature Version 4)"; the library for it would be another package.
 */
export function presignedUrl(options: {
  readonly place: StoragePlace;
  readonly key: string;
  readonly method: "GET" | "PUT";
  readonly seconds: number;
  readonly now: Date;
}): string {
  const { place, key, method, seconds, now } = options;
  const { keys } = place;
  if (keys === undefined) throw missingKey();
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const scope = `${day}/${place.region}/s3/aws4_request`;
  const path = objectPath(place.bucket, key);
  const query = Object.entries({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${keys.accessKeyId}/${scope}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(seconds),
    ...(keys.sessionToken !== undefined && { "X-Amz-Security-Token": keys.sessionToken }),
    "X-Amz-SignedHeaders": "host",
  })
    .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
    .join("&");
  const request = [
    method,
    path,
    query,
    `host:${new URL(place.endpoint).host}\n`,
    "host",
    "UNSIGNED-PAYLOAD",
  ].join("\n");
  const hash = createHash("sha256").update(request).digest("hex");
  const signed = ["AWS4-HMAC-SHA256", time, scope, hash].join("\n");
  const secret = [day, place.region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secretSoFar, part) => createHmac("sha256", secretSoFar).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const signature = createHmac("sha256", secret).update(signed).digest("hex");
  return `${place.endpoint}${path}?${query}&X-Amz-Signature=${signature}`;
}
