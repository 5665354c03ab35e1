import { pathToFileURL } from "node:url";

/** Where code of this folder stands in a stack, the innermost call first: `index.mjs:12`, by the path within the folder. */
export function placesIn(folder: string, stack: string): readonly string[] {
  // Stacks name modules by URL, and by path where source maps are applied.
  const marks = [`${pathToFileURL(folder).href}/`, `${folder}/`];
  return stack.split("\n").flatMap((line) => {
    // Not in the message: one that only speaks of a file was not thrown by its code.
    if (!/^\s+at /.test(line)) return [];
    const mark = marks.find((one) => line.includes(one));
    if (mark === undefined) return [];
    const place = line.slice(line.indexOf(mark) + mark.length);
    const [, file = place, number] = /^([^?:)]*)(?:\?[^:)]*)?(?::(\d+))?/.exec(place) ?? [];
    return [number === undefined ? file : `${file}:${number}`];
  });
}
