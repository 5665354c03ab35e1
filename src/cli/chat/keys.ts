import { stripControls } from "../../base/visible-text.js";

export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "backtab"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "word-left"
  | "word-right"
  | "delete-word"
  | "delete-to-start"
  | "delete-to-end"
  | "interrupt"
  | "end-of-input"
  | "suspend"
  | "redraw"
  | "steer"
  | "escape";

export type Key =
  | { readonly kind: "text"; readonly text: string }
  /** Several lines may be in it; it never sends. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "key"; readonly name: KeyName };

const CONTROLS: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  "\n": "newline",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x01": "home",
  "\x02": "left",
  "\x03": "interrupt",
  "\x04": "end-of-input",
  "\x05": "end",
  "\x06": "right",
  "\x0b": "delete-to-end",
  "\x0c": "redraw",
  "\x0e": "down",
  "\x10": "up",
  "\x13": "steer",
  "\x15": "delete-to-start",
  "\x17": "delete-word",
  "\x1a": "suspend",
};

/** What follows ESC; the forms of every terminal in use. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[3~": "delete",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[Z": "backtab",
  "[1;5C": "word-right",
  "[1;5D": "word-left",
  "[1;3C": "word-right",
  "[1;3D": "word-left",
  f: "word-right",
  b: "word-left",
  "\x7f": "delete-word",
  // Alt+Enter, and Shift+Enter where the terminal tells it from Enter.
  "\r": "newline",
  "\n": "newline",
  "[13;2u": "newline",
  "[13;3u": "newline",
  "[27;2;13~": "newline",
  "[27;3;13~": "newline",
};

const PASTE_BEGINS = "\x1b[200~";
const PASTE_ENDS = "\x1b[201~";
const WHOLE_SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^[O])/u;
const PRINTABLE = /^[^\x00-\x1f\x7f]+/;

/** Turns what a terminal sends into keys, however it was cut into pieces. */
export class KeyReader {
  #rest = "";

  /** Something has begun that is not whole: more of it may come, or it was the Escape key. */
  get isWaiting(): boolean {
    return this.#rest !== "" && !this.#rest.startsWith(PASTE_BEGINS);
  }

  read(typed: string): readonly Key[] {
    const isFresh = this.#rest === "";
    this.#rest += typed;
    // Nobody types a second line in the same moment: it was pasted, into a terminal that does not mark it.
    if (isFresh && UNMARKED_PASTE.test(typed)) return this.#taken(typed.length, pasted(typed));
    const keys: Key[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) keys.push(...next);
    return keys;
  }

  /** Nothing has come for a while: what is left stands for itself. */
  giveUpWaiting(): readonly Key[] {
    if (!this.isWaiting) return [];
    this.#rest = "";
    return [{ kind: "key", name: "escape" }];
  }

  #next(): readonly Key[] | undefined {
    const rest = this.#rest;
    if (rest === "") return undefined;
    if (rest.startsWith(PASTE_BEGINS)) {
      const end = rest.indexOf(PASTE_ENDS);
      if (end === -1) return undefined;
      return this.#taken(end + PASTE_ENDS.length, pasted(rest.slice(PASTE_BEGINS.length, end)));
    }
    if (rest.startsWith("\x1b")) {
      const [sequence] = WHOLE_SEQUENCE.exec(rest) ?? [];
      if (sequence === undefined) return undefined;
      const name = SEQUENCES[sequence.slice(1)];
      return this.#taken(sequence.length, name === undefined ? undefined : { kind: "key", name });
    }
    const [text] = PRINTABLE.exec(rest) ?? [];
    if (text !== undefined) return this.#taken(text.length, { kind: "text", text: stripControls(text) });
    const name = CONTROLS[rest.charAt(0)];
    return this.#taken(1, name === undefined ? undefined : { kind: "key", name });
  }

  #taken(length: number, key: Key | undefined): readonly Key[] {
    this.#rest = this.#rest.slice(length);
    return key === undefined ? [] : [key];
  }
}

/** No key is in it but letters, tabs and line breaks. */
const UNMARKED_PASTE = /^[\t\n\r\x20-\x7e\x80-\uffff]*[\r\n][^\x00-\x1f\x7f][\t\n\r\x20-\x7e\x80-\uffff]*$/;

function pasted(text: string): Key {
  return { kind: "paste", text: stripControls(text.replace(/\r\n?/g, "\n")) };
}
