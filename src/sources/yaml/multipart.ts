import { randomBytes } from "node:crypto";
import type { Pair } from "./query.js";

/** A form of plain fields in the form browsers send it, with the boundary that its header must name. */
export function multipartForm(
  fields: readonly Pair[],
  boundary = `hermes-${randomBytes(16).toString("hex")}`,
): { readonly contentType: string; readonly body: string } {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: `${parts.join("")}--${boundary}--\r\n`,
  };
}

/** A name cannot end its quotes or its line. */
function escaped(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
