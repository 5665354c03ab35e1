import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { failure, HermesError } from "../../../tool/errors.js";
import { sameText } from "./login.js";
import { CALLBACK_PORTS, callbackUrl } from "./settings.js";

export interface CallbackServer {
  readonly redirectUrl: string;
  /** The address of the first visit that carries the state; other visitors are turned away. */
  wait(state: string): Promise<URL>;
  close(): Promise<void>;
}

const LONGEST_ADDRESS = 16 * 1024;

/** Listens on the first free port of those a login may use, for this machine only. */
export async function openCallbackServer(ports: readonly number[] = CALLBACK_PORTS): Promise<CallbackServer> {
  for (const port of ports) {
    const server = await listen(port);
    if (server !== undefined) return callbackServer(server);
  }
  const message = `the ports ${ports[0]} to ${ports.at(-1)} are all in use`;
  throw new HermesError(failure("unavailable", message, "End another login, or use --no-browser."));
}

function callbackServer(server: Server): CallbackServer {
  const redirectUrl = callbackUrl((server.address() as AddressInfo).port);
  return {
    redirectUrl,
    wait: (state) =>
      new Promise((resolve) => {
        server.on("request", (request, response) => {
          const address = visited(request, redirectUrl);
          if (address === undefined || !sameText(address.searchParams.get("state") ?? "", state)) {
            answer(response, 400, "This address is not for you to open.");
            return;
          }
          // The code still has to be traded for tokens, which may fail.
          const refused = address.searchParams.has("error");
          answer(
            response,
            200,
            refused ? "The login was refused." : "Done here: the program tells the rest.",
          );
          resolve(address);
        });
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Undefined for what is not the browser coming back: other paths, other methods, other names for this machine. */
function visited({ method, url = "", headers }: IncomingMessage, redirectUrl: string): URL | undefined {
  const expected = new URL(redirectUrl);
  if (method !== "GET" || url.length > LONGEST_ADDRESS || headers.host !== expected.host) return undefined;
  if (!URL.canParse(url, redirectUrl)) return undefined;
  const address = new URL(url, redirectUrl);
  return address.origin === expected.origin && address.pathname === expected.pathname ? address : undefined;
}

/** Nothing of the request is in the page: whatever wrote the address would write into it. */
function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(
    `<!doctype html><title>Hermes Tools</title><style>body{font:18px system-ui;margin:4rem auto;max-width:32rem}</style><p>${text}</p>\n`,
  );
}

function listen(port: number): Promise<Server | undefined> {
  const server = createServer({ requestTimeout: 10_000 });
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => resolve(server));
  });
}

/** Shows an address in the person's browser. False when this machine has no program for that. */
export function openSystemBrowser(
  address: URL,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  // The address was named by a server: anything else than the web could start any program.
  if (address.protocol !== "https:" && address.protocol !== "http:") return Promise.resolve(false);
  const [program, ...args] = openerOf(platform);
  return new Promise((resolve) => {
    // No shell between: the address is one argument, whatever it holds.
    const child = spawn(program, [...args, address.href], { stdio: "ignore", detached: true, shell: false });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
