import { type Content, textOf } from "../tool/content.js";

/** One part as text, where a format can carry some kinds of parts but not this one. */
export function partText(part: Content): string {
  return part.type === "resource" && part.text !== undefined ? part.text : textOf([part]);
}
