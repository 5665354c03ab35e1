import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { TerminalSize } from "../../src/env/environment.js";
import { main, plainEnvironment, tempFolder } from "../cli/hermes.js";
import { endAll, eventually, inTerminal } from "../pty/support.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";

const servers = new Set<ScriptedModel>();

afterEach(async () => {
  await endAll();
  await Promise.all([...servers].map((server) => server.close()));
  servers.clear();
});

export const KEY = {
  enter: "\r",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlJ: "\n",
  ctrlS: "\u0013",
  ctrlZ: "\u001a",
  left: "\u001b[D",
  up: "\u001b[A",
  tab: "\t",
} as const;

export interface ChatOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly size?: TerminalSize;
  readonly args?: readonly string[];
  /** What runs in the terminal; the chat itself unless said. `$CHAT` starts it. */
  readonly shell?: string;
  readonly home?: string;
  readonly cwd?: string;
}

/** The built program in a terminal of its own, with a model that plays these steps. */
export async function startChat(steps: readonly Step[], options: ChatOptions = {}) {
  const server = await startScriptedModel({ steps });
  servers.add(server);
  const home = options.home ?? tempFolder();
  const cwd = options.cwd ?? tempFolder();
  const argv = [process.execPath, main, "chat", ...(options.args ?? [])];
  const script = join(home, "chat.sh");
  writeFileSync(script, `exec ${argv.map((word) => `'${word}'`).join(" ")}\n`);
  const started = await inTerminal(
    options.shell === undefined ? argv : ["bash", "--noprofile", "--norc", "-c", options.shell],
    {
      cwd,
      size: options.size ?? { columns: 80, rows: 24 },
      env: {
        ...plainEnvironment(home),
        CHAT: `bash ${script}`,
        HERMES_MODEL_PROVIDER: "compatible",
        HERMES_MODEL: "scripted",
        HERMES_MODEL_BASE_URL: server.url,
        HERMES_MODEL_API_KEY: "test-key",
        ...options.env,
      },
    },
  );
  const { screen } = started;
  const chat = {
    ...started,
    server,
    home,
    cwd,
    type: (text: string) => started.process.write(text),
    /** Waits until the screen shows it. */
    sees: (text: string | RegExp) =>
      eventually(
        () => screen.text(),
        (shown) => (typeof text === "string" ? shown.includes(text) : text.test(shown)),
        20_000,
      ),
    /** Waits until the terminal has printed it, on the screen or above. */
    printed: (text: string) =>
      eventually(
        () => screen.scrollback(1_000),
        (shown) => shown.includes(text),
        20_000,
      ),
    asked: (count: number) =>
      eventually(
        () => server.requests.length,
        (length) => length >= count,
        20_000,
      ),
    lastAsked: () => server.requests.at(-1)?.messages.at(-1)?.text ?? "",
    /** Waits until it can be typed. */
    isReady: () => chat.sees(/^›/m),
    /** Waits until no turn runs: then the last row says which model answers. */
    isIdle: () => chat.sees(/^compatible:scripted ·/m),
  };
  if (options.shell === undefined) await chat.isReady();
  return chat;
}
