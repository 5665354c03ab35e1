import type { Meaning } from "../tool/marked-text.js";
import { renderMarks } from "../tool/marked-text.js";
import type { Output } from "./output.js";

/** Marks of a text for people as colours of the terminal; gone where there are none. */
export function painted(text: string, color: Output["color"]): string {
  const paints: Readonly<Record<Meaning, (part: string) => string>> = {
    added: color.green,
    removed: color.red,
    heading: (part) => color.bold(color.cyan(part)),
    dim: color.dim,
    strong: color.bold,
    good: color.green,
    warning: color.yellow,
    bad: color.red,
    path: color.cyan,
  };
  return renderMarks(text, (meaning, part) => paints[meaning](part));
}
