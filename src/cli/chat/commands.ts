import { nearest } from "../../config/did-you-mean.js";
import type { ChatApp } from "./chat-app.js";
import { wrapLines } from "./rows.js";

export interface SlashCommand {
  readonly name: string;
  readonly about: string;
  readonly argument?: string;
  /** Also while a turn runs. */
  readonly anytime?: boolean;
  run(app: ChatApp, argument: string): Promise<void> | void;
}

/** In the order of `/help`. The code of those that look something up is loaded with the first of them. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", about: "this list", anytime: true, run: (app) => help(app) },
  {
    name: "tools",
    about: "the tools of this conversation",
    anytime: true,
    run: async (app) => (await looking()).showTools(app),
  },
  {
    name: "toolsets",
    about: "all toolsets",
    anytime: true,
    run: async (app) => (await looking()).showToolsets(app),
  },
  {
    name: "mcp",
    about: "MCP servers and how they are",
    anytime: true,
    run: async (app) => (await looking()).showServers(app),
  },
  {
    name: "profile",
    argument: "[NAME]",
    about: "what the agent may do; with a name, change it",
    run: async (app, name) => (await changing()).profile(app, name),
  },
  {
    name: "model",
    argument: "[[PROVIDER:]NAME]",
    about: "which model answers; with a name, change it",
    run: async (app, name) => (await changing()).model(app, name),
  },
  {
    name: "plan",
    about: "plan mode: the agent only reads; again, and it may act",
    run: async (app) => (await changing()).plan(app),
  },
  {
    name: "approve",
    argument: "[ID]",
    about: "questions of other sessions that wait for an answer; with an id, say yes once",
    anytime: true,
    run: async (app, id) => (await looking()).approvals(app, id),
  },
  {
    name: "stats",
    about: "calls of today, by tool",
    anytime: true,
    run: async (app) => (await looking()).showStats(app),
  },
  {
    name: "cost",
    about: "what this chat has used, and what it cost",
    anytime: true,
    run: async (app) => (await looking()).showCost(app),
  },
  {
    name: "budget",
    argument: "[[day] USD]",
    about: "what this conversation, or this day, may cost; with an amount, raise it, and what waits goes on",
    run: async (app, typed) => (await changing()).budget(app, typed),
  },
  {
    name: "undo",
    about: "take the last turn back, with its changes of files",
    run: async (app) => (await changing()).undo(app),
  },
  { name: "new", about: "begin a new conversation", run: async (app) => (await changing()).startNew(app) },
  {
    name: "resume",
    argument: "[ID]",
    about: "go on with another conversation; without an id, list the newest",
    run: async (app, id) => (await changing()).resume(app, id),
  },
  {
    name: "export",
    argument: "[FILE]",
    about: "write the conversation to a Markdown file",
    anytime: true,
    run: async (app, file) => (await changing()).exportTo(app, file),
  },
  {
    name: "steer",
    argument: "TEXT",
    about: "said now: heard before the model is asked the next time (Ctrl-S)",
    anytime: true,
    run: (app, text) => (text === "" ? app.note("Say what: /steer TEXT") : app.turns.steer(text)),
  },
  { name: "stop", about: "end the turn (Ctrl-C)", anytime: true, run: (app) => app.stop() },
  { name: "quit", about: "leave (Ctrl-C twice, Ctrl-D)", anytime: true, run: (app) => app.quit() },
];

const looking = () => import("./looking.js");
const changing = () => import("./changing.js");

export async function runSlashCommand(app: ChatApp, typed: string): Promise<void> {
  const [, name = "", argument = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
  const command = SLASH_COMMANDS.find((one) => one.name === name);
  if (command === undefined) {
    const [close] = nearest(
      name,
      SLASH_COMMANDS.map((one) => one.name),
    );
    return app.note(
      `There is no /${name}.${close === undefined ? " See /help." : ` Did you mean /${close}?`}`,
    );
  }
  if (app.turns.isWorking && command.anytime !== true)
    return app.note(`/${name} has to wait until the turn is over; Ctrl-C stops it.`);
  try {
    await command.run(app, argument.trim());
  } catch (error) {
    app.showError(error);
  }
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while it works, queue (↑ takes the last one back to be edited)"],
  ["Ctrl-J", "a new line (also Alt-Enter, and Shift-Enter where the terminal tells it)"],
  ["Ctrl-S", "steer: heard before the model is asked the next time"],
  ["Ctrl-C", "stop the turn; twice, quit"],
  ["Tab", "complete a /command or an @file"],
  ["Ctrl-Z", "into the background; fg comes back"],
];

function help(app: ChatApp): void {
  const { color } = app.parts.out;
  const rows = SLASH_COMMANDS.map(({ name, argument, about }) => [
    `/${name}${argument === undefined ? "" : ` ${argument}`}`,
    about,
  ]);
  const width = Math.max(...rows.map(([left = ""]) => left.length)) + 2;
  const lines = ([left = "", right = ""]: readonly string[]) =>
    wrapLines(right, { mark: `  ${color.cyan(left.padEnd(width))}`, width: app.columns - 1 });
  app.print([...rows.flatMap(lines), "", ...KEYS.flatMap(lines), ""]);
}
