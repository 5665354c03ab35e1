import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import type { Readable } from "node:stream";

/** One for all: it is filled and handed on within one turn, so no two readers use it at a time. */
let shared: Buffer | undefined;
const READ_BYTES = 65_536;

export interface OutputReader {
  readonly ended: Promise<void>;
  pause(paused: boolean): void;
  /** Whether it keeps this process alive. */
  ref(wanted: boolean): void;
  letGo(): void;
}

/** Reads a pipe to its end. Takes over the descriptor. */
export function readPipe(descriptor: number, take: (bytes: Buffer) => void): OutputReader {
  shared ??= Buffer.allocUnsafeSlow(READ_BYTES);
  const buffer = shared;
  let wanted = true;
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(length) {
        if (wanted) take(buffer.subarray(0, length));
        return true;
      },
    },
  };
  return follow(new Socket(options), () => {
    wanted = false;
  });
}

/** The same for a stream that node has made. */
export function readStream(stream: Readable, take: (bytes: Buffer) => void): OutputReader {
  stream.on("data", take);
  return follow(stream, () => {
    stream.removeAllListeners("data");
    stream.resume();
  });
}

type Referenced = Readable & { ref?: () => void; unref?: () => void };

function follow(stream: Referenced, drop: () => void): OutputReader {
  stream.on("error", () => {});
  return {
    ended: new Promise((resolve) => stream.once("close", resolve)),
    pause(paused) {
      if (paused) stream.pause();
      else stream.resume();
    },
    ref(wanted) {
      if (wanted) stream.ref?.();
      else stream.unref?.();
    },
    letGo() {
      if (stream.closed) return;
      drop();
      stream.resume();
      stream.unref?.();
    },
  };
}

/** Several as one: what a child prints on different descriptors. */
export function together(readers: readonly OutputReader[]): OutputReader {
  return {
    ended: Promise.all(readers.map((reader) => reader.ended)).then(() => {}),
    pause(paused) {
      for (const reader of readers) reader.pause(paused);
    },
    ref(wanted) {
      for (const reader of readers) reader.ref(wanted);
    },
    letGo() {
      for (const reader of readers) reader.letGo();
    },
  };
}
