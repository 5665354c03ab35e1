const MAX_CHARS = 60;

/** A value in a few characters, for messages: short JSON, or its kind and size. */
export function preview(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(clip(value, MAX_CHARS));
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `an array of ${count(value.length, "item")}`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value);
    if (keys.length === 0) return "{}";
    const shown = keys.slice(0, 3).map((key) => clip(key, 20));
    return `an object with ${shown.join(", ")}${keys.length > 3 ? ", …" : ""}`;
  }
  return String(value);
}

/** Cuts between code points, so that no half of a surrogate pair is left over. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max;
  return `${text.slice(0, end)}…`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** `items[2].name` for `/items/2/name`; the empty pointer is the arguments as a whole. */
export function readablePath(segments: readonly string[]): string {
  let path = "";
  for (const segment of segments) {
    if (/^\d+$/.test(segment)) path += `[${segment}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(segment)) path += path === "" ? segment : `.${segment}`;
    else path += `[${JSON.stringify(clip(segment, 40))}]`;
  }
  return path === "" ? "arguments" : clip(path, 200);
}
