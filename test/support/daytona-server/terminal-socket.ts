import type { WebSocket } from "ws";
import type { HostedProcess } from "../sandbox-host/sandbox.js";

/** The service gives up a client that lies this far behind. */
const MAX_BEHIND_BYTES = 1_048_576;

/** Joins a web socket and a terminal the way the daemon does. */
export function attachTerminal(socket: WebSocket, terminal: HostedProcess | undefined): void {
  if (terminal === undefined) {
    socket.send(JSON.stringify({ type: "control", status: "error", error: "PTY session not found" }));
    socket.close();
    return;
  }
  socket.send(JSON.stringify({ type: "control", status: "connected" }));
  const forward = (bytes: Buffer) => {
    if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.close(1008, "slow consumer");
    else socket.send(bytes, { binary: true });
  };
  terminal.stdout.on("data", forward);
  socket.on("message", (data: Buffer) => terminal.stdin.write(data));
  socket.on("error", () => {});
  socket.on("close", () => terminal.stdout.off("data", forward));
  void terminal.exited.then(({ code, signal }) => {
    const exitCode = code ?? 128 + (signal ?? 9);
    const exitReason = exitCode === 0 ? {} : { exitReason: "non-zero exit" };
    socket.close(exitCode === 0 ? 1000 : 1011, JSON.stringify({ exitCode, ...exitReason }));
  });
}
