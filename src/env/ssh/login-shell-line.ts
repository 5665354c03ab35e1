import { quoteForShell } from "../../base/quote.js";
import { ToolError } from "../../tool/errors.js";

/** Linux refuses to start a program with a longer argument, and the login shell gets the line as one. */
const MAX_LINE_BYTES = 131_071;

/**
 * Characters that mean the same between single quotes in sh, csh and fish. Left out: the quote; `!`, which csh
 * takes for its history; the backslash, which fish takes for an escape; line breaks, which csh does not allow;
 * and everything that depends on the locale.
 */
const PLAIN = /^[ "-&(-[\]-~]*$/;
/** Runs its `$0`, in which `printf` puts all other characters back. */
const DECODE = 'eval "$(printf %b "$0")"';

/** Which quoting the account's login shell understands. */
export type LoginShell = "posix" | "any";

/** Comes back unchanged only from a shell that reads quotes as sh does. */
const TEST_WORD = "a'b\\\\c\\'!d\n\\e $HOME `f` é *";
export const LOGIN_SHELL_TEST = {
  line: `exec printf %s ${quoteForShell(TEST_WORD)}`,
  answer: TEST_WORD,
} as const;

/**
 * An argument vector as one line that the login shell turns back into exactly these arguments: a server hands
 * every command to the account's shell, whatever that is. The form for any shell costs the start of an `sh`.
 */
export function loginShellLine(argv: readonly string[], shell: LoginShell): string {
  if (argv.some((argument) => argument.includes("\0"))) {
    throw new ToolError("The command holds a NUL byte, which no program can receive as an argument.", {
      code: "invalid_arguments",
      hint: "Remove the NUL byte, or write the data to a file.",
    });
  }
  const plain = argv.every((argument) => PLAIN.test(argument));
  const command = `exec ${argv.map(quoteForShell).join(" ")}`;
  const line = plain || shell === "posix" ? command : `exec sh -c '${DECODE}' '${encode(command)}'`;
  const bytes = Buffer.byteLength(line);
  if (bytes <= MAX_LINE_BYTES) return line;
  throw new ToolError(
    `The command is too large to start over ssh: ${bytes} bytes, ${MAX_LINE_BYTES} are allowed.`,
    { code: "invalid_arguments", hint: "Write the text to a file, or pass the data on standard input." },
  );
}

/** Octal escapes for `printf %b`: no shell changes a backslash before a zero between single quotes. */
function encode(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    encoded += PLAIN.test(char) ? char : `\\0${byte.toString(8).padStart(3, "0")}`;
  }
  return encoded;
}
