import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import {
  type Authenticator,
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { ClusterSettings } from "./bus.js";

const DEFAULT_PORT = 4_222;

/** `without`: servers to leave out, as connections name them, as long as there are others. */
export async function connectTo(
  settings: ClusterSettings,
  without: ReadonlySet<string> = new Set(),
): Promise<NatsConnection> {
  const urls = settings.url.split(",").map(readUrl);
  const all = urls.map(({ hostname, port }) => `${hostname}:${port === "" ? DEFAULT_PORT : port}`);
  const others = all.filter((server) => !without.has(server));
  const servers = others.length > 0 ? others : all;
  const { username: user, password: pass } = urls[0] ?? new URL("nats://localhost");
  const [ca, cert, key] = (["tls_ca", "tls_cert", "tls_key"] as const).map((name) => read(settings, name));
  const tls = settings.url.includes("tls://") || ca !== undefined || cert !== undefined;
  const authenticator = authenticatorFor(settings);
  try {
    return await connect({
      servers,
      name: `hermes-tools on ${hostname()}`,
      // A lost connection is looked for again as long as the process lives: calls say themselves how long they wait.
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      // A server that is gone without a word is left before others take this machine for lost.
      pingInterval: 1_000,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
      // Two stacks for each request, of which nobody reads any.
      noAsyncTraces: true,
      ...(authenticator !== undefined && { authenticator }),
      ...(user !== "" && { user: decodeURIComponent(user), pass: decodeURIComponent(pass) }),
      ...(tls && {
        tls: {
          ...(ca !== undefined && { ca }),
          ...(cert !== undefined && { cert }),
          ...(key !== undefined && { key }),
        },
      }),
    });
  } catch (error) {
    throw new HermesError(
      failure(
        "unavailable",
        `no NATS server of the cluster answers at ${servers.join(", ")}: ${describeThrown(error).message}`,
        adviceFor(error, { mayWantCertificate: tls && cert === undefined }),
      ),
    );
  }
}

function adviceFor(error: unknown, { mayWantCertificate }: { readonly mayWantCertificate: boolean }): string {
  if (error instanceof AuthorizationError)
    return "It wants to know who asks: cluster.nkey_file, cluster.creds_file, or nats://NAME:PASSWORD@HOST.";
  const { message } = describeThrown(error);
  if (/certificate|altname/i.test(message))
    return "cluster.tls_ca (or NODE_EXTRA_CA_CERTS) names the certificate of who signed the server's; cluster.url has the name that stands in it.";
  if (mayWantCertificate && /timeout|closed|alert/i.test(message))
    return "Is it running? One that wants a certificate from its clients says no more than this: cluster.tls_cert and cluster.tls_key.";
  return "Is it running, and is the address right? nats-server -js starts one; cluster.url names it.";
}

type FileSetting = "creds_file" | "nkey_file" | "tls_ca" | "tls_cert" | "tls_key";

/** The text of the file that a setting names. */
function read(settings: ClusterSettings, name: FileSetting): string | undefined {
  try {
    return settings[name] === "" ? undefined : readFileSync(settings[name], "utf8").trim();
  } catch (error) {
    throw unusable(settings, name, error);
  }
}

function authenticatorFor(settings: ClusterSettings): Authenticator | undefined {
  const name = settings.creds_file !== "" ? "creds_file" : "nkey_file";
  const text = read(settings, name);
  if (text === undefined) return undefined;
  const make = name === "creds_file" ? credsAuthenticator : nkeyAuthenticator;
  const authenticator = make(Buffer.from(text));
  try {
    // Otherwise it is first looked at when a server asks, and that one would be blamed.
    authenticator("nonce");
  } catch (error) {
    throw unusable(settings, name, error);
  }
  return authenticator;
}

function unusable(settings: ClusterSettings, name: FileSetting, error: unknown): HermesError {
  const message = `cluster.${name}: ${settings[name]} cannot be used: ${describeThrown(error).message}`;
  return new HermesError(failure("bad_request", message));
}

function readUrl(given: string): URL {
  const text = given.trim();
  const whole = /^[a-z]+:\/\//.test(text) ? text : `nats://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url !== undefined && url.host !== "" && /^(?:nats|tls):$/.test(url.protocol)) return url;
  throw new HermesError(
    failure("bad_request", `${text} is no address of a NATS server`, "It looks like nats://host:4222."),
  );
}
