const ESC = "\u001b";

/** Keys that send the same whatever the terminal's modes are. */
const FIXED: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  tab: "\t",
  "shift-tab": `${ESC}[Z`,
  esc: ESC,
  escape: ESC,
  space: " ",
  backspace: "\u007f",
  delete: `${ESC}[3~`,
  del: `${ESC}[3~`,
  insert: `${ESC}[2~`,
  pgup: `${ESC}[5~`,
  pageup: `${ESC}[5~`,
  pgdn: `${ESC}[6~`,
  pagedown: `${ESC}[6~`,
  f1: `${ESC}OP`,
  f2: `${ESC}OQ`,
  f3: `${ESC}OR`,
  f4: `${ESC}OS`,
  f5: `${ESC}[15~`,
  f6: `${ESC}[17~`,
  f7: `${ESC}[18~`,
  f8: `${ESC}[19~`,
  f9: `${ESC}[20~`,
  f10: `${ESC}[21~`,
  f11: `${ESC}[23~`,
  f12: `${ESC}[24~`,
  "ctrl-space": "\u0000",
  /** The character that begins a key, as text. */
  lt: "<",
};

/** Full-screen programs switch these from `ESC [` to `ESC O`. */
const CURSOR: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  home: "H",
  end: "F",
};
const MODIFIERS: Readonly<Record<string, number>> = { shift: 2, alt: 3, ctrl: 5 };

const KEY = /<([a-z0-9]+(?:-(?:[a-z0-9]+|[[\]\\^_@?]))?)>/gi;

export interface KeyModes {
  /** The program has asked for application cursor keys; see `Screen.modes`. */
  readonly applicationCursor?: boolean;
}

/**
 * Turns key names in text into what a terminal sends for them: `<enter>`, `<tab>`, `<esc>`, `<up>`,
 * `<pgdn>`, `<ctrl-c>`, `<alt-b>`, `<ctrl-left>`, `<f1>` … All other text stays as it is, also names in
 * angle brackets that are no keys (`<div>`). To type the name of a key itself, write `<lt>` for its first
 * character: `<lt>enter>`.
 */
export function expandKeys(text: string, modes: KeyModes = {}): string {
  return text.replaceAll(KEY, (whole, name: string) => keyBytes(name.toLowerCase(), name, modes) ?? whole);
}

function keyBytes(key: string, asWritten: string, modes: KeyModes): string | undefined {
  const fixed = own(FIXED, key);
  if (fixed !== undefined) return fixed;
  const plain = own(CURSOR, key);
  if (plain !== undefined) return ESC + (modes.applicationCursor === true ? "O" : "[") + plain;
  const dash = key.indexOf("-");
  if (dash === -1) return undefined;
  const modifier = key.slice(0, dash);
  const rest = key.slice(dash + 1);
  const letter = own(CURSOR, rest);
  const number = own(MODIFIERS, modifier);
  if (letter !== undefined && number !== undefined) return `${ESC}[1;${number}${letter}`;
  if (rest.length !== 1) return undefined;
  if (modifier === "ctrl") return controlCharacter(rest);
  // Alt keeps the case of its letter.
  return modifier === "alt" ? ESC + asWritten.slice(dash + 1) : undefined;
}

function controlCharacter(character: string): string | undefined {
  if (character === "?") return "\u007f";
  return /[a-z[\]\\^_@]/.test(character)
    ? String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f)
    : undefined;
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
