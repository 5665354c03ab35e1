import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { main, outcomeOf, root, tempFolder } from "../cli/hermes.js";
import { commandLines } from "./doc-commands.js";

/** A command of a page and the output that is shown below it. */
interface Shown {
  readonly command: string;
  readonly lines: readonly string[];
}

type Piece = { readonly file: string; readonly text: string } | Shown;

/**
 * What a page asks its reader to do, in order: `console` blocks hold commands behind `$ ` and what they print, `sh` blocks
 * commands alone; a block with `file=PATH` behind its language is a file that the reader writes.
 */
export function piecesOf(page: string, leftOut: ReadonlySet<string> = new Set()): readonly Piece[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)(?: file=(\S+))?\n([\s\S]*?)^```$/gm)].flatMap(
    ([, language, file, block = ""]): readonly Piece[] => {
      if (file !== undefined) return [{ file, text: block }];
      if (language === "console") return commandsIn(block);
      if (language !== "sh") return [];
      const kept = commandLines(block).filter(({ line }) => !leftOut.has(line));
      return kept.map(({ line }) => ({ command: line, lines: [] }));
    },
  );
}

function commandsIn(block: string): readonly Shown[] {
  const [before, ...parts] = block.split(/^\$ /m);
  expect(before, "output before the first command").toBe("");
  return parts.map((part) => {
    const [command = "", ...lines] = part.trimEnd().split("\n");
    return { command, lines };
  });
}

/** What a page takes for granted. */
export interface Granted {
  readonly env?: Readonly<Record<string, string>>;
  /** What is there already when its reader begins. */
  readonly before?: readonly string[];
  /** What stands for its placeholders. */
  readonly given?: Readonly<Record<string, string>>;
  /** Commands that are run by another test. */
  readonly leftOut?: ReadonlySet<string>;
}

/**
 * Runs a page from top to bottom, in a home and a folder that are new. A command is expected to end well unless its
 * output shows an `error:`. Shown lines must come in that order; `…` stands for anything, and blanks count once. A
 * command with `&` goes on in the background until the page is over.
 */
export async function runPage(
  page: string,
  { env = {}, before = [], given = {}, leftOut }: Granted = {},
): Promise<number> {
  const home = tempFolder();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const background: ChildProcess[] = [];
  const variables = { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", HERMES_PORT: "0", ...env };
  const bash = (line: string) => {
    const program = `hermes() { "${process.execPath}" "${main}" "$@"; }\ncurl() { command curl --fail "$@"; }\n`;
    // Each in its own group: what runs in the background ends as a whole.
    return spawn("bash", ["-o", "pipefail", "-c", program + withGiven(line)], {
      cwd,
      env: variables,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  };
  const withGiven = (line: string) =>
    Object.entries({ ...given, ...addressOf(home) }).reduce(
      (text, [name, value]) => text.replaceAll(name, value),
      line,
    );
  const pieces = [
    ...before.map((command) => ({ command, lines: command.endsWith(" &") ? ["…"] : [] })),
    ...piecesOf(page, leftOut),
  ];
  try {
    for (const piece of pieces) {
      if ("file" in piece) {
        const path = piece.file.startsWith("~/") ? join(home, piece.file.slice(2)) : join(cwd, piece.file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, piece.text);
      } else if (piece.command.endsWith(" &")) {
        const child = bash(piece.command.slice(0, -2));
        background.push(child);
        await shownBy(child, piece);
      } else {
        const { code, stdout, stderr } = await outcomeOf(bash(piece.command));
        const said = `${page}: ${piece.command}\n${stdout}${stderr}`;
        const mayFail = piece.lines.some((line) => line.startsWith("error:"));
        expect(code === 0, `${said}\nended with ${code}`).toBe(!mayFail);
        expect(firstMissing(piece.lines, stdout + stderr), `${said}\ndoes not show`).toBeUndefined();
      }
    }
  } finally {
    await Promise.all(background.map(end));
  }
  return pieces.filter((piece) => "command" in piece).length - before.length;
}

/** The server of a page has any free port, and the page the one it would have. */
function addressOf(home: string): Readonly<Record<string, string>> {
  const path = join(home, ".hermes", "server.json");
  if (!existsSync(path)) return {};
  const { url } = JSON.parse(readFileSync(path, "utf8")) as { readonly url: string };
  return { "127.0.0.1:9119": new URL(url).host };
}

async function end(child: ChildProcess): Promise<void> {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-pid, "SIGTERM");
  await ended;
}

/** Waits until a program in the background has said what is shown of it. */
async function shownBy(child: ChildProcess, { command, lines }: Shown): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} has said only: ${said}`)), 20_000);
    const look = (chunk: Buffer) => {
      said += chunk.toString();
      if (said === "" || firstMissing(lines, said) !== undefined) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
  });
}

function firstMissing(lines: readonly string[], said: string): string | undefined {
  const plain = (line: string) => line.replaceAll(/\s+/g, " ").trim();
  const rest = said.split("\n").map(plain);
  return lines.map(plain).find((line) => {
    if (line === "…" || line === "") return false;
    const pattern = new RegExp(line.split("…").map(escaped).join(".*"));
    const at = rest.findIndex((one) => pattern.test(one));
    rest.splice(0, at + 1);
    return at < 0;
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
