import { execFile } from "node:child_process";

/** How a terminal treats what is typed. */
export interface TerminalModes {
  /** The program gets whole lines, at most 4,095 bytes each; the system drops what is longer. */
  readonly wholeLines: boolean;
  readonly echo: boolean;
  /** The character that means end of input. */
  readonly endOfInput: string;
}

const CTRL_D = "\u0004";
const TIMEOUT_MS = 2_000;

/** Node cannot ask a terminal by itself; `undefined` where `stty` cannot either. */
export function readModes(path: string): Promise<TerminalModes | undefined> {
  const flag = process.platform === "linux" ? "-F" : "-f";
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
  return new Promise((resolve) => {
    execFile("stty", [flag, path, "-a"], { env, timeout: TIMEOUT_MS }, (error, stdout) => {
      resolve(error === null ? parseModes(stdout) : undefined);
    });
  });
}

export function parseModes(listing: string): TerminalModes {
  const words = new Set(listing.split(/[\s;]+/));
  return {
    wholeLines: words.has("icanon"),
    echo: words.has("echo"),
    endOfInput: controlCharacter(/\beof = (\^.|<undef>)/.exec(listing)?.[1]),
  };
}

function controlCharacter(name: string | undefined): string {
  if (name === undefined || !name.startsWith("^")) return CTRL_D;
  return name === "^?" ? "\u007f" : String.fromCharCode(name.charCodeAt(1) & 0x1f);
}
