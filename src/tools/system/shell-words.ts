/**
 * A rough reading of a command line, for hints only: which programs stand where a program is named. It
 * protects nothing; the policy stage judges commands with a real parser.
 */
export interface Segment {
  /** Base name of the program. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * The command with everything that is data (quoted text, here-documents, comments, arithmetic, escaped
 * characters) overwritten by `_`, so that what remains is shell syntax. Length and lines are kept.
 */
export function maskData(command: string): string {
  const out: string[] = [];
  const hereDocs: string[] = [];
  let at = 0;
  const hide = (end: number) => {
    for (; at < end; at += 1) out.push(command[at] === "\n" ? "\n" : "_");
  };
  while (at < command.length) {
    const rest = command.slice(at, at + 2);
    const char = rest[0] ?? "";
    if (char === "\\") hide(Math.min(at + 2, command.length));
    else if (char === "'" || char === '"') hide(endOfQuote(command, at));
    else if (rest === "((") hide(endOf(command, "))", at + 2));
    else if (char === "#" && /(?:^|[\s;&|(])$/.test(out.at(-1) ?? "")) hide(endOfLine(command, at));
    else if (rest === "<<" && command[at + 2] === "<") {
      out.push("___");
      at += 3;
    } else if (rest === "<<") {
      const opening = /^<<-?\s*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s;&|<>()'"]+))/.exec(
        command.slice(at, at + 300),
      );
      if (opening) hereDocs.push(opening[1] ?? opening[2] ?? opening[3] ?? "");
      hide(at + (opening?.[0].length ?? 2));
    } else if (char === "\n" && hereDocs.length > 0) {
      out.push("\n");
      at += 1;
      for (const word of hereDocs.splice(0)) hide(endOfHereDoc(command, at, word));
    } else {
      out.push(char);
      at += 1;
    }
  }
  return out.join("");
}

function endOfQuote(command: string, start: number): number {
  const quote = command[start];
  for (let at = start + 1; at < command.length; at += 1) {
    if (command[at] === "\\" && quote === '"') at += 1;
    else if (command[at] === quote) return at + 1;
  }
  return command.length;
}

function endOf(command: string, closing: string, from: number): number {
  const found = command.indexOf(closing, from);
  return found === -1 ? command.length : found + closing.length;
}

function endOfLine(command: string, from: number): number {
  const found = command.indexOf("\n", from);
  return found === -1 ? command.length : found;
}

function endOfHereDoc(command: string, from: number, word: string): number {
  for (let at = from; at < command.length; ) {
    const end = endOfLine(command, at);
    if (command.slice(at, end).replace(/^\t+/, "") === word) return end;
    at = end + 1;
  }
  return command.length;
}

/** True when a part of the command is started as a background job. */
export function startsBackgroundJob(masked: string): boolean {
  return /(?<![&><|;])&(?![&>])/.test(masked);
}

const TRANSPARENT = new Set(
  "if then else elif do while until ! time exec command builtin sudo doas env nice ionice stdbuf npx bunx".split(
    " ",
  ),
);

/** Every simple command of a masked line, in order, without the words that merely start another program. */
export function segmentsOf(masked: string): readonly Segment[] {
  const segments: Segment[] = [];
  for (const piece of masked.split(/&&|\|\||[;\n|(){}`]|(?<![><&])&(?![>&])/)) {
    const words = piece.split(/\s+/).filter((word) => word !== "" && word !== "$");
    while (words.length > 0 && isPassedOver(words[0] ?? "")) {
      const passed = words.shift();
      if (passed !== undefined && TRANSPARENT.has(passed)) {
        while (words[0]?.startsWith("-")) words.shift();
      }
    }
    const [program, ...args] = words;
    if (program !== undefined) segments.push({ program: program.replace(/^.*\//, ""), args });
  }
  return segments;
}

function isPassedOver(word: string): boolean {
  return TRANSPARENT.has(word) || /^[A-Za-z_]\w*\+?=/.test(word) || /^\d*[<>]/.test(word);
}
