import { adviceFor } from "../net/connection-failure.js";
import { proxyVariables } from "../net/process-proxy.js";

/** What a platform's library says of a request that failed, with the setting it depends on if that was on the way. */
export function unreachable(message: string, error: unknown): Error {
  const advice = adviceFor(error, proxyVariables().HTTPS_PROXY);
  return new Error(advice === undefined ? message : `${message} (${advice})`, { cause: error });
}
