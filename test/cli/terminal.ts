import { spawn, spawnSync } from "node:child_process";
import type { TestContext } from "vitest";
import { plainEnvironment } from "./hermes.js";

const hasScript = spawnSync("script", ["--version"]).status === 0;

export function needsTerminal(skip: TestContext["skip"]): void {
  if (!hasScript) skip("needs a terminal: apt-get install bsdutils (the program `script`)");
}

/** The countdown rewrites its line; only one that starts on a new line asks for something to be typed. */
const FRESH_PROMPT = /\n(?:\x1b\[[\d;]*[A-Za-z])* {3}Choice \[/g;

export interface Conversation {
  readonly code: number | null;
  readonly screen: string;
  /** How often something was asked for. */
  readonly questions: number;
}

/** Runs a program on a terminal of its own and types an answer at every question. */
export function onTerminal(
  words: readonly string[],
  options: {
    readonly home: string;
    readonly type: readonly string[];
    /** Typed at once, before anything is asked. */
    readonly typeAhead?: string;
    readonly columns?: number;
    readonly env?: Readonly<Record<string, string>>;
    /** Told with every change what the screen holds so far. */
    readonly onScreen?: (screen: string) => void;
  },
): Promise<Conversation> {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const sized = options.columns === undefined ? quoted : `stty cols ${options.columns}; ${quoted}`;
  const child = spawn("script", ["-qefc", sized, "/dev/null"], {
    cwd: options.home,
    env: { ...plainEnvironment(options.home), TERM: "xterm", SHELL: "/bin/bash", ...options.env },
    stdio: "pipe",
  });
  let screen = "";
  let questions = 0;
  if (options.typeAhead !== undefined) child.stdin.write(options.typeAhead);
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    screen += chunk;
    options.onScreen?.(screen);
    const asked = screen.match(FRESH_PROMPT)?.length ?? 0;
    for (; questions < asked; questions += 1) {
      const answer = options.type[questions];
      if (answer !== undefined) child.stdin.write(answer);
    }
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, screen, questions }));
  });
}
