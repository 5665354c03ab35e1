import type { CallContext } from "../../../tool/tool.js";

/** What a call asks of a database, whatever kind it is. */
export interface QueryJob {
  readonly query: string;
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>> | undefined;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly readonly: boolean;
  readonly explain: boolean;
  readonly timeoutMs: number;
}

/** What a database answered, cut to the limits of the job. */
export interface QueryAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly columns: readonly string[];
  readonly truncated: boolean;
  /** Which limit has cut it. */
  readonly cutBy?: "rows" | "bytes" | undefined;
  /** Values that were too long to be shown whole. */
  readonly cutValues: number;
  /** How many rows a statement that changes something has changed. */
  readonly changed?: number | undefined;
  /** What the reader should know about how it was run. */
  readonly note?: string | undefined;
}

/** A database that can be reached over the network. */
export interface ServerAddress {
  readonly url: URL;
  /** Without password and options, as it may be shown. */
  readonly shown: string;
  /** The operator named it: it may lie in a private network. */
  readonly configured: boolean;
  readonly password: string | undefined;
}

export interface Query {
  readonly job: QueryJob;
  readonly ctx: CallContext;
}

export interface ServerQuery extends Query {
  readonly server: ServerAddress;
}
