/** The few parts of the package that the server uses; it brings no types of its own. */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage } from "node:http";
  import type { Duplex } from "node:stream";

  export class WebSocket extends EventEmitter {
    readonly bufferedAmount: number;
    send(data: string | Uint8Array, options?: { binary?: boolean }): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class WebSocketServer {
    constructor(options: { noServer: true; maxPayload?: number });
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (client: WebSocket) => void,
    ): void;
    close(): void;
  }
}
