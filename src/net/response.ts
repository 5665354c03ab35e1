import { STATUS_CODES } from "node:http";
import type { Response } from "undici";
import { ToolError } from "../tool/errors.js";
import type { FetchResponse } from "../tool/fetch.js";
import type { GuardedRequest } from "./fetch.js";

const DEFAULT_MAX_BYTES = 50 * 1024 * 1024;
/** A body smaller than this is not worth a word while it arrives. */
const TOLD_FROM_BYTES = 1024 * 1024;
const TOLD_EVERY_MS = 500;

/** The answer as tools see it: a body that ends at its limit, tells how far it is, and explains what goes wrong. */
export function boundedResponse(arrival: {
  readonly response: Response;
  readonly url: string;
  readonly redirects: readonly string[];
  readonly request: GuardedRequest;
  close(): Promise<void>;
  explain(error: unknown): unknown;
}): FetchResponse {
  const { response, url, redirects, request, close } = arrival;
  const limit = request.maxBytes ?? DEFAULT_MAX_BYTES;
  let truncated = false;

  async function* read(): AsyncGenerator<Uint8Array> {
    const tell = teller(response, request);
    let total = 0;
    try {
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array;
        total += bytes.byteLength;
        if (total > limit) {
          if (request.overflow !== "cut") throw tooLarge(limit, request.hints?.tooLarge);
          truncated = true;
          yield bytes.subarray(0, bytes.byteLength - (total - limit));
          return;
        }
        tell(total);
        yield bytes;
      }
    } catch (error) {
      throw arrival.explain(error);
    } finally {
      await close();
    }
  }

  const body = read();
  const bytes = async (): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts);
  };
  return {
    status: response.status,
    // The client leaves it out where a proxy passed the request on, whatever its types say.
    statusText: (response.statusText as string | undefined) ?? STATUS_CODES[response.status] ?? "",
    ok: response.ok,
    headers: response.headers as unknown as Headers,
    url,
    redirects,
    body,
    get truncated() {
      return truncated;
    },
    bytes,
    text: async () => (await bytes()).toString("utf8"),
    close,
  };
}

function tooLarge(limit: number, hint: string | undefined): ToolError {
  return new ToolError(`The answer is larger than ${limit} bytes.`, {
    hint: hint ?? "Ask for less (a filter, a smaller page).",
  });
}

function teller(response: Response, { progress }: GuardedRequest): (received: number) => void {
  if (progress === undefined) return () => {};
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  // A compressed body is longer than its announced length once it is unpacked.
  const whole = response.headers.get("content-encoding") === null && length > 0 ? length : undefined;
  const megabytes = (bytes: number) => (bytes / 1024 ** 2).toFixed(1);
  let last = performance.now();
  return (received) => {
    const now = performance.now();
    if (received < TOLD_FROM_BYTES || now - last < TOLD_EVERY_MS) return;
    last = now;
    progress({
      message: `${megabytes(received)}${whole === undefined ? "" : ` of ${megabytes(whole)}`} MB received`,
      ...(whole !== undefined && { fraction: Math.min(1, received / whole) }),
    });
  };
}
