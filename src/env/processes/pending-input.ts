const CTRL_C = "\u0003";
/** Beyond this nobody can tell any more what stands there. */
const MAX_PENDING_CHARS = 4_096;
const MAX_SENT_CHARS = 30_000;
/** Stands for text that nobody has kept; a control character, so that it can never be judged as harmless. */
const UNKNOWABLE = "\u0000";

/**
 * What was typed into a process and belongs to a command that has not been sent off. A line that ends inside
 * quotes, with a backslash or an operator goes on in the next one, so it stays until the command is whole.
 */
export class PendingInput {
  #text = "";
  #sent = "";

  get text(): string {
    return this.#text;
  }

  /** The whole commands before that, the last of them: what a program was told makes what it is told next mean more. */
  get sent(): string {
    return this.#sent;
  }

  add(data: string): void {
    const abandoned = data.lastIndexOf(CTRL_C);
    this.#text = abandoned === -1 ? this.#text + data : data.slice(abandoned + 1);
    for (let end = lineEnd(this.#text, 0); end !== -1; end = lineEnd(this.#text, end)) {
      if (end > MAX_PENDING_CHARS) break;
      if (goesOn(this.#text.slice(0, end))) continue;
      this.#sent = (this.#sent + this.#text.slice(0, end)).slice(-MAX_SENT_CHARS);
      this.#text = this.#text.slice(end);
      end = 0;
    }
    if (this.#text.length > MAX_PENDING_CHARS) this.#text = UNKNOWABLE;
  }
}

/** Where the line after this place begins; Enter is a carriage return on a terminal. */
function lineEnd(text: string, from: number): number {
  const found = /[\r\n]/.exec(text.slice(from));
  return found === null ? -1 : from + found.index + 1;
}

/** `$'…'`, in which a backslash hides the quote that would end it. */
const ANSI_QUOTE = "' with escapes";

/** True when a shell would ask for more lines. Other programs are taken for shells: that only asks more often. */
function goesOn(lines: string): boolean {
  const text = lines.replaceAll("\r", "\n");
  let quote = "";
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (quote === "'") {
      if (char === "'") quote = "";
    } else if (char === "\\") at += 1;
    else if (quote !== "") {
      if (char === quote[0]) quote = "";
    } else if (text.startsWith("$'", at)) {
      quote = ANSI_QUOTE;
      at += 1;
    } else if (char === "'" || char === '"' || char === "`") quote = char;
    else if (char === "(" || char === "{") depth += 1;
    else if (char === ")" || char === "}") depth -= 1;
  }
  if (quote !== "" || depth > 0) return true;
  if (/\\\n$/.test(text) || /(?:&&|\|\||\|&?)\s*$/.test(text)) return true;
  return opensBlock(text) || opensHereDocument(text);
}

/** `if`, `for`, `case` and their like without the word that closes them. */
function opensBlock(text: string): boolean {
  const words = text.split(/[\s;&|()]+/);
  const count = (...names: string[]) => words.filter((word) => names.includes(word)).length;
  return (
    count("if") > count("fi") ||
    count("do") > count("done") ||
    count("for", "while", "until", "select") > count("done") ||
    count("case") > count("esac")
  );
}

function opensHereDocument(text: string): boolean {
  for (const found of text.matchAll(/(?<!<)<<(?!<)-?\s*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s;&|<>()'"]+))/g)) {
    const word = found[1] ?? found[2] ?? found[3] ?? "";
    const rest = text.slice(found.index).split("\n").slice(1);
    if (!rest.some((line) => line.replace(/^\t+/, "") === word)) return true;
  }
  return false;
}
