import { randomBytes } from "node:crypto";

/** Random marks, one for each secret place, and the search for them in whatever a row has printed, sent or written. */
export class Canaries {
  readonly #places = new Map<string, string>();

  at(place: string): string {
    const mark = `cnry${randomBytes(9).toString("hex")}`;
    this.#places.set(mark, place);
    return mark;
  }

  /** The places whose mark shows in these bytes: as it is, split, reversed, in hex or in base64. */
  in(bytes: Buffer): readonly string[] {
    const text = bytes.toString("latin1");
    const dumped = text.replace(/^(?:0x)?[0-9a-f]{4,16}:?\s+|\s\s\S.*$/gim, "");
    const texts = [text, joined(text), joined(dumped), joined(text.replace(/^\s*\d+\s/gm, ""))];
    const found = [...this.#places].filter(([mark]) =>
      disguises(mark).some((form) => texts.some((each) => each.includes(form))),
    );
    return found.map(([, place]) => place);
  }
}

const joined = (text: string) => text.replace(/[\s\0'"\\,+]+/g, "");

const known = new Map<string, readonly string[]>();

function disguises(mark: string): readonly string[] {
  let forms = known.get(mark);
  if (forms === undefined) {
    const reversed = [...mark].reverse().join("");
    const hex = Buffer.from(mark).toString("hex");
    forms = [
      mark,
      mark.toUpperCase(),
      reversed,
      hex,
      hex.toUpperCase(),
      Buffer.from(reversed).toString("hex"),
      rot13(mark),
      ...[0, 1, 2].map((shift) => inBase64(mark, shift)),
    ];
    known.set(mark, forms);
  }
  return forms;
}

/** The part that does not depend on what stands before and after it. */
function inBase64(mark: string, shift: number): string {
  const encoded = Buffer.from("x".repeat(shift) + mark)
    .toString("base64")
    .replace(/=+$/, "");
  return encoded.slice(shift === 0 ? 0 : 4, -4);
}

function rot13(text: string): string {
  return text.replace(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97),
  );
}
