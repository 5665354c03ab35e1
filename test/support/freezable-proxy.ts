import { connect, createServer, type Socket } from "node:net";

export interface FreezableProxy {
  readonly port: number;
  /** Stops forwarding without closing anything: the other side looks alive and never answers. */
  freeze(): void;
  /** Ends every connection and accepts none. */
  cut(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** Forwards loopback connections to another port of this machine. */
export async function startFreezableProxy(targetPort: number): Promise<FreezableProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  let isCut = false;

  const forward = (from: Socket, to: Socket) => {
    from.on("data", (bytes) => {
      if (to.write(bytes)) return;
      from.pause();
      to.once("drain", () => !frozen && from.resume());
    });
    from.on("end", () => !frozen && to.end());
    from.on("error", () => to.destroy());
    from.on("close", () => !frozen && to.destroy());
  };

  const server = createServer((client) => {
    client.on("error", () => undefined);
    if (isCut) return void client.destroy();
    const target = connect(targetPort, "127.0.0.1");
    client.setNoDelay(true);
    target.setNoDelay(true);
    const pair = [client, target] as const;
    pairs.add(pair);
    client.on("close", () => pairs.delete(pair));
    forward(client, target);
    forward(target, client);
    if (frozen) for (const socket of pair) socket.pause();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");

  const destroyAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  };
  return {
    port: address.port,
    freeze() {
      frozen = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    cut() {
      isCut = true;
      destroyAll();
    },
    thaw() {
      isCut = false;
      frozen = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    async stop() {
      destroyAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
