import { hostOf } from "./connection-string.js";
import type { ServerQuery } from "./query-job.js";

export interface JudgedAddress {
  readonly host: string;
  readonly port: number;
  /** The one address that was judged, and may be dialled. */
  readonly address: string;
  readonly family: 4 | 6;
}

/** For drivers that open their connections themselves: where they may do so. */
export async function judgedAddress(
  { server, job, ctx }: ServerQuery,
  defaultPort: number,
): Promise<JudgedAddress> {
  const host = hostOf(server.url);
  const port = server.url.port === "" ? defaultPort : Number(server.url.port);
  const socket = await ctx.connect({
    host,
    port,
    configured: server.configured,
    timeoutMs: Math.min(job.timeoutMs, 15_000),
  });
  const address = socket.remoteAddress ?? host;
  socket.destroy();
  return { host, port, address, family: address.includes(":") ? 6 : 4 };
}

type Lookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  callback: (
    error: Error | null,
    address: string | { address: string; family: number }[],
    family?: number,
  ) => void,
) => void;

/** Answers for the judged host with the judged address, and for no other. */
export function pinnedLookup({ host, address, family }: JudgedAddress): Lookup {
  return (hostname, options, callback) => {
    if (hostname.toLowerCase() !== host.toLowerCase())
      callback(new Error(`${hostname} is another server than the one that was named`), "", 4);
    else if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}
