const OPENERS = new Set(["{", "["]);
const CLOSERS = new Set(["}", "]"]);

/**
 * Whether text that is not quite JSON at least ends where its outermost value does: no string and no
 * bracket is left open. Single quotes count as quotes where a value or key may begin, as in Python.
 */
export function looksComplete(text: string): boolean {
  let open = 0;
  let quote = "";
  let previous = "";
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote !== "") {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
      continue;
    }
    if (char === '"' || (char === "'" && (previous === "" || "{[,:".includes(previous)))) quote = char;
    else if (OPENERS.has(char)) open++;
    else if (CLOSERS.has(char)) open--;
    if (char.trim() !== "") previous = char;
  }
  return open <= 0 && quote === "";
}
