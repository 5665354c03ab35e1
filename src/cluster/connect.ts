import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator } from "@nats-io/transport-node";
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
  const { tls_ca: caFile, tls_cert: certFile, tls_key: keyFile } = settings;
  const tls = settings.url.includes("tls://") || caFile !== "" || certFile !== "";
  const authenticator =
    settings.creds_file !== ""
      ? credsAuthenticator(readFileSync(settings.creds_file))
      : settings.nkey_file !== ""
        ? nkeyAuthenticator(Buffer.from(readFileSync(settings.nkey_file, "utf8").trim()))
        : undefined;
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
          ...(caFile !== "" && { caFile }),
          ...(certFile !== "" && { certFile }),
          ...(keyFile !== "" && { keyFile }),
        },
      }),
    });
  } catch (error) {
    throw new HermesError(
      failure(
        "unavailable",
        `no NATS server of the cluster answers at ${servers.join(", ")}: ${describeThrown(error).message}`,
        "Is it running, and is the address right? nats-server -js starts one; cluster.url names it.",
      ),
    );
  }
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
