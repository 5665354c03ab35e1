/** One piece of SQL text; words are upper case, comments are gone. */
export interface SqlToken {
  readonly kind: "word" | "string" | "quoted" | "number" | "sign";
  readonly text: string;
}

export interface SqlDialect {
  /** MySQL and its kin: backslash escapes, `#` comments, and comments that hold code after an exclamation mark. */
  readonly mysql?: boolean;
}

const TOKEN =
  /\s+|--[^\n]*|(\d[\w.]*)|([A-Za-z_\u0080-\uFFFF@][\w$\u0080-\uFFFF]*)|(\$(?:[A-Za-z_]\w*)?\$)|('|"|`|\[|\/\*|#)|([\s\S])/y;

/** Splits SQL into statements of tokens. A text that ends inside a string ends there. */
export function sqlStatements(text: string, dialect: SqlDialect = {}): readonly (readonly SqlToken[])[] {
  const statements: SqlToken[][] = [[]];
  const add = (kind: SqlToken["kind"], piece: string): void => {
    statements.at(-1)?.push({ kind, text: piece });
  };
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    at = TOKEN.lastIndex;
    const [, number, word, dollar, opener, sign] = match;
    if (number !== undefined) add("number", number);
    else if (word !== undefined) add("word", word.toUpperCase());
    else if (dollar !== undefined) {
      const end = text.indexOf(dollar, at);
      add("string", text.slice(at, end < 0 ? text.length : end));
      at = end < 0 ? text.length : end + dollar.length;
    } else if (opener !== undefined) at = readOpened({ text, opener, at, dialect, add });
    else if (sign === ";") statements.push([]);
    else if (sign !== undefined) add("sign", sign);
  }
  return statements.filter((statement) => statement.length > 0);
}

interface Opened {
  readonly text: string;
  readonly opener: string;
  readonly at: number;
  readonly dialect: SqlDialect;
  readonly add: (kind: SqlToken["kind"], piece: string) => void;
}

/** Reads what a quote or comment sign opens; gives the place after it. */
function readOpened({ text, opener, at, dialect, add }: Opened): number {
  if (opener === "/*") {
    if (dialect.mysql === true && text[at] === "!")
      return at + (/^!\d*/.exec(text.slice(at, at + 8))?.[0].length ?? 1);
    const end = text.indexOf("*/", at);
    return end < 0 ? text.length : end + 2;
  }
  if (opener === "#") {
    if (dialect.mysql !== true) {
      add("sign", "#");
      return at;
    }
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end;
  }
  const closer = opener === "[" ? "]" : opener;
  if (opener === "[" && !/^[A-Za-z_]/.test(text.slice(at, at + 1))) {
    add("sign", "[");
    return at;
  }
  let value = "";
  let index = at;
  for (; index < text.length; index++) {
    const char = text[index] ?? "";
    if (char === "\\" && dialect.mysql === true) {
      value += text[index + 1] ?? "";
      index += 1;
    } else if (char === closer) {
      if (text[index + 1] !== closer) break;
      value += closer;
      index += 1;
    } else value += char;
  }
  add(opener === "'" ? "string" : "quoted", value);
  return index + 1;
}
