import { MAX_REQUEST_BYTES } from "../protocol/index.js";

/** What one client may cost the server. */
export interface ServerLimits {
  readonly bodyBytes: number;
  /** A body may pause this long. */
  readonly bodyIdleMs: number;
  /** Headers, and the whole request with its body, must be here after so long. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly headerBytes: number;
  readonly connections: number;
  /** Sessions that last from request to request; one that is idle this long ends. */
  readonly sessions: number;
  readonly sessionIdleMs: number;
  readonly eventClients: number;
  /** An event client that is further behind than this and does not read is dropped. */
  readonly pendingEvents: number;
  readonly pendingEventBytes: number;
  readonly heartbeatMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  bodyBytes: MAX_REQUEST_BYTES,
  bodyIdleMs: 15_000,
  headersMs: 15_000,
  requestMs: 120_000,
  headerBytes: 16 * 1024,
  connections: 4_096,
  sessions: 256,
  sessionIdleMs: 30 * 60_000,
  eventClients: 2_000,
  pendingEvents: 1_000,
  pendingEventBytes: 1024 * 1024,
  heartbeatMs: 15_000,
};
