const NEW_LINE = 0x0a;
/** Ends whatever sequence the cut has torn. */
const CANCEL = "\u0018";
const PRIVATE_MODES = /\u001b\[\?([\d;]{1,64})([hl])/g;

/**
 * The last bytes of terminal output, from the beginning of a line, with the modes that the dropped part has
 * switched put in front: without them the rest would be drawn on the wrong screen.
 */
export function cutToTail(bytes: Buffer, keep: number): Buffer {
  if (bytes.length <= keep) return bytes;
  const from = bytes.length - keep;
  const lineEnd = bytes.indexOf(NEW_LINE, from);
  const start = lineEnd === -1 ? from : lineEnd + 1;
  const modes = new Map<string, string>();
  for (const [, numbers = "", direction = ""] of bytes.toString("latin1", 0, start).matchAll(PRIVATE_MODES)) {
    for (const number of numbers.split(";")) modes.set(number, direction);
  }
  const switches = [...modes].map(([number, direction]) => `\u001b[?${number}${direction}`).join("");
  return Buffer.concat([Buffer.from(CANCEL + switches, "latin1"), bytes.subarray(start)]);
}
