/** Backslash sequences as `echo -e`, `printf` and `%b` read them. */
export function readEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|0([0-7]{1,3})|([1-7][0-7]{0,2})|c[\s\S]*|([\s\S]))/g,
    (whole, hex, short, long, zeroed, octal, letter: string | undefined) => {
      const digits = hex ?? short ?? long;
      if (digits !== undefined) return codePoint(Number.parseInt(digits, 16));
      if ((zeroed ?? octal) !== undefined)
        return String.fromCharCode(Number.parseInt(zeroed ?? octal, 8) & 0xff);
      if (letter === undefined) return "";
      return LETTERS[letter] ?? whole;
    },
  );
}

const LETTERS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "0": "\0",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

function codePoint(value: number): string {
  return value <= 0x10ffff ? String.fromCodePoint(value) : "";
}

/** What `printf` prints, the format reused until the arguments are used up. */
export function formatPrintf(format: string, args: readonly string[]): string {
  let printed = "";
  let next = 0;
  const once = (): boolean => {
    let took = false;
    const take = (): string => {
      took = true;
      return args[next++] ?? "";
    };
    const pieces = format.split(/(%%|%\([^)]*\)T|%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z])/);
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 0) printed += readEscapes(piece);
      else if (piece === "%%") printed += "%";
      else if (piece.endsWith("b")) printed += readEscapes(take());
      else if (piece.endsWith("c")) printed += take().slice(0, 1);
      else printed += shaped(piece, take());
      if (printed.length > 65_536) return false;
    }
    return took;
  };
  do {
    if (!once()) break;
  } while (next < args.length);
  return printed;
}

/** `%02x` and the like for numbers; `%.2s` cuts; widths only add blanks, which no shell minds. */
function shaped(piece: string, given: string): string {
  const kind = piece.at(-1) ?? "s";
  if (kind === "s" || kind === "q") {
    const precision = /\.(\d+)/.exec(piece)?.[1];
    return precision === undefined ? given : given.slice(0, Number(precision));
  }
  const value = numberFrom(given);
  if (value === undefined) return given;
  const text =
    kind === "x" ? value.toString(16) : kind === "X" ? value.toString(16).toUpperCase() : undefined;
  const digits = text ?? (kind === "o" ? value.toString(8) : String(value));
  const width = /%[-+ #]*(0?)(\d*)/.exec(piece);
  return digits.padStart(Math.min(Number(width?.[2] || 0), 64), width?.[1] === "0" ? "0" : " ");
}

function numberFrom(given: string): number | undefined {
  if (/^["']/.test(given)) return given.codePointAt(1);
  if (/^-?0x[\da-f]+$/i.test(given)) return Number(given);
  if (/^0[0-7]+$/.test(given)) return Number.parseInt(given, 8);
  return /^-?\d+$/.test(given) ? Number(given) : undefined;
}
