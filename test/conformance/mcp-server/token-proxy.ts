import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The suite cannot send a token, and the server has no way to do without one. This passes every request on as it is,
 * Host and Origin too, and only adds the token.
 */
export async function startTokenProxy(token: string): Promise<{
  readonly port: number;
  sendTo(port: number): void;
  close(): void;
}> {
  let target = 0;
  const proxy: Server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = request(
      {
        host: "127.0.0.1",
        port: target,
        method,
        path: url,
        headers: { ...headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        outgoing.once("close", () => answer.destroy());
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.once("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    sendTo: (port) => {
      target = port;
    },
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
