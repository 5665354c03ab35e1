import { lookup } from "node:dns/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { failure, HermesError } from "../tool/errors.js";
import type { ServerToken } from "./token.js";

/** The address a host name stands for here; what is judged is what will be bound. */
export async function resolveBind(host: string): Promise<string> {
  try {
    return (await lookup(host.replace(/^\[(.*)\]$/, "$1"))).address;
  } catch {
    throw new HermesError(
      failure(
        "bad_request",
        `${host} is no address of this machine`,
        "Use 127.0.0.1, or one that `hostname -I` shows.",
      ),
    );
  }
}

/** Whoever can reach the port needs a token that somebody chose to hand out. */
export async function refuseOpenBind(options: {
  readonly host: string;
  readonly address: string;
  readonly token: ServerToken;
}): Promise<void> {
  const { host, address, token } = options;
  if (token.source === "configured" && token.value !== "") return;
  const { default: ipaddr } = await import("ipaddr.js");
  if (ipaddr.process(address).range() === "loopback") return;
  throw new HermesError(
    failure(
      "bad_request",
      `${host} can be reached from other machines, so a generated token is not enough`,
      "Set HERMES_TOKEN (or server.token) to a long secret of your own, or listen on 127.0.0.1.",
    ),
  );
}

/** Starts listening and gives the port that was taken. */
export function listen(
  server: Server,
  { host, address, port }: { readonly host: string; readonly address: string; readonly port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(new HermesError(explain(error, `${host}:${port}`)));
    server.once("error", onError);
    server.listen({ host: address, port, backlog: 511 }, () => {
      server.off("error", onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function explain(error: NodeJS.ErrnoException, where: string) {
  switch (error.code) {
    case "EADDRINUSE":
      return failure(
        "unavailable",
        `${where} is already in use`,
        "Another `hermes serve` may be running. Stop it, or take another port: hermes serve --port 0",
      );
    case "EACCES":
      return failure(
        "unavailable",
        `${where} may not be opened by this user`,
        "Ports below 1024 are reserved; take another one with --port.",
      );
    case "EADDRNOTAVAIL":
      return failure(
        "unavailable",
        `${where} is no address of this machine`,
        "Use 127.0.0.1, or one that `hostname -I` shows.",
      );
    default:
      return failure(
        "unavailable",
        `cannot listen on ${where}: ${error.message}`,
        "Try --host 127.0.0.1 --port 0.",
      );
  }
}
