import type { Socket } from "node:net";

/** What a tool asks of the network. Rules of the operator and the policy of the call apply by themselves. */
export interface FetchRequest {
  readonly url: string;
  /** GET unless said. */
  readonly method?: string | undefined;
  /** Host, length and the like are set by the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A stream cannot be sent twice: a redirect that wants it again is an error. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** For the whole exchange, the body included; the call's own deadline holds anyway. */
  readonly timeoutMs?: number | undefined;
  /** Most bytes of the body, after decompression; 50 MiB unless said. */
  readonly maxBytes?: number | undefined;
  /** What happens to a larger body: an error (unless said), or it ends there and `truncated` tells. */
  readonly overflow?: "error" | "cut" | undefined;
  /** True unless said. Every hop is judged like a first request. */
  readonly followRedirects?: boolean | undefined;
  readonly maxRedirects?: number | undefined;
  /**
   * The operator wrote this address into the configuration: it may lie in a private network, and the policy of the call
   * is not asked about it. Only its own origin: what it redirects to is judged like any other address.
   */
  readonly configured?: boolean | undefined;
  /** It was sent before, with this many in vain; for the record of the call. */
  readonly retry?: number | undefined;
  /** Ends the request before the call ends. */
  readonly signal?: AbortSignal | undefined;
  /** What to do about it, in the words of whoever asks. */
  readonly hints?:
    | { readonly timeout?: string | undefined; readonly tooLarge?: string | undefined }
    | undefined;
}

/** An answer whose body arrives as it is read. Read it to its end or close it. */
export interface FetchResponse {
  readonly status: number;
  readonly statusText: string;
  /** The status says success. */
  readonly ok: boolean;
  readonly headers: Headers;
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly redirects: readonly string[];
  /** Bounded by `maxBytes`; can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the body was cut; known when it has been read. */
  readonly truncated: boolean;
  bytes(): Promise<Buffer>;
  text(): Promise<string>;
  /** Ends the connection; reading to the end does so too. */
  close(): Promise<void>;
}

export type Fetch = (request: FetchRequest) => Promise<FetchResponse>;

/** A connection that is no web request: to a database, a mail server, a name server. */
export interface ConnectRequest {
  readonly host: string;
  readonly port: number;
  /** As for `FetchRequest`. */
  readonly configured?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** To stop the call's own work at the other side: may be opened while the call is being stopped, for a moment. */
  readonly toStop?: boolean | undefined;
}

/** For programs that have network code of their own, such as a browser. */
export interface ProxyRequest {
  /** Told of connections that were refused or could not be made. */
  onTrouble?(trouble: ProxyTrouble): void;
}

export interface ProxyTrouble {
  readonly host: string;
  readonly port: number;
  /** Refused by the rules; otherwise nobody answered there. */
  readonly blocked: boolean;
  readonly reason: string;
}

/** Open until it is closed, also after the call that opened it. */
export interface NetworkProxy {
  /** `socks5://127.0.0.1:port`. */
  readonly url: string;
  close(): Promise<void>;
}

export type OpenProxy = (request?: ProxyRequest) => Promise<NetworkProxy>;

/** An open connection to an address that was judged; ended with the call unless the tool ends it before. */
export type Connect = (request: ConnectRequest) => Promise<Socket>;

export const RECORD_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface NameQuestion {
  readonly name: string;
  /** A unless said; PTR for an address. */
  readonly type?: RecordType | undefined;
  /** IP address, with a port if need be; the system's name server when left out. */
  readonly server?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface NameRecord {
  readonly type: RecordType;
  /** As people write it: an address, a name, "10 mail.example". */
  readonly value: string;
  readonly ttl?: number | undefined;
  /** The parts of a record that has several. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

export interface NameAnswer {
  readonly type: RecordType;
  readonly records: readonly NameRecord[];
  /** Why there are none. */
  readonly reason?: string | undefined;
  /** Who answered. */
  readonly server: string;
}

export type LookUp = (question: NameQuestion) => Promise<NameAnswer>;
