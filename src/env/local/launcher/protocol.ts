/** Frames between this process and the launcher: four bytes of length, then fields with a NUL between them. */

export type LauncherEvent =
  /** A descriptor of the launcher to try whether its descriptors can be opened here. */
  | { readonly event: "ready"; readonly descriptor: number }
  /** With its descriptors that are this process's ends of the pipes, in the order of the request. */
  | { readonly event: "started"; readonly id: number; readonly pid: number; readonly ends: readonly number[] }
  | { readonly event: "failed"; readonly id: number; readonly stage: string; readonly errno: number }
  | { readonly event: "exited"; readonly id: number; readonly status: number; readonly report: string }
  | { readonly event: "enclosed"; readonly id: number; readonly problem: string };

/** What the launcher would read as the end of a field must not be in one. */
export function encodeRequest(fields: readonly string[]): Buffer {
  if (fields.some((field) => field.includes("\0"))) throw new TypeError("a field holds a NUL byte");
  const text = fields.join("\0");
  const size = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(4 + size);
  frame.writeUInt32BE(size, 0);
  frame.write(text, 4);
  return frame;
}

/** Puts frames together from whatever pieces arrive. */
export class EventReader {
  #pending: Buffer = Buffer.alloc(0);

  *read(bytes: Buffer): Generator<LauncherEvent> {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    while (this.#pending.length >= 4) {
      const end = 4 + this.#pending.readUInt32BE(0);
      if (this.#pending.length < end) return;
      const event = decodeEvent(this.#pending.toString("utf8", 4, end));
      this.#pending = this.#pending.subarray(end);
      if (event !== undefined) yield event;
    }
  }
}

function decodeEvent(text: string): LauncherEvent | undefined {
  const [event, id, ...rest] = text.split("\0");
  switch (event) {
    case "ready":
      return { event, descriptor: Number(id) };
    case "started": {
      const [pid = 0, ...ends] = rest.map(Number);
      return { event, id: Number(id), pid, ends };
    }
    case "failed":
      return { event, id: Number(id), stage: rest[0] ?? "", errno: Number(rest[1]) };
    case "exited":
      return { event, id: Number(id), status: Number(rest[0]), report: rest.slice(1).join("\0") };
    case "enclosed":
      return { event, id: Number(id), problem: rest.join("\0") };
    default:
      return undefined;
  }
}
