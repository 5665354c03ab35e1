import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A door in front of a server, at which connections can be cut, refused or slowed down. */
export interface Gate {
  readonly port: number;
  /** Drops every connection and refuses new ones for this long. */
  cut(options?: { readonly forMs?: number }): void;
  /** Lets connections in again. */
  restore(): void;
  /** How long each piece of an answer is held back. */
  slowDown(delayMs: number): void;
  stop(): Promise<void>;
}

export async function startGate(targetPort: number): Promise<Gate> {
  const open = new Set<Socket>();
  let refusing: NodeJS.Timeout | true | undefined;
  let delay = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on("error", () => {});
    if (refusing !== undefined) {
      client.destroy();
      return;
    }
    const target = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    target.on("error", () => client.destroy());
    for (const socket of [client, target]) {
      open.add(socket);
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    client.pipe(target);
    target.on("data", (chunk) => {
      const forward = () => {
        if (client.writable && !client.write(chunk)) {
          target.pause();
          client.once("drain", () => target.resume());
        }
      };
      if (delay === 0) forward();
      else setTimeout(forward, delay);
    });
    target.on("end", () => setTimeout(() => client.end(), delay));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dropAll = () => {
    for (const socket of open) socket.destroy();
  };
  const restore = () => {
    if (typeof refusing === "object") clearTimeout(refusing);
    refusing = undefined;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut({ forMs = 0 } = {}) {
      restore();
      refusing = forMs === Number.POSITIVE_INFINITY ? true : setTimeout(restore, forMs);
      dropAll();
    },
    restore,
    slowDown(delayMs) {
      delay = delayMs;
    },
    async stop() {
      restore();
      refusing = true;
      server.close();
      dropAll();
      if (server.listening) await once(server, "close");
    },
  };
}
