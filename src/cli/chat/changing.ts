import { createWriteStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { budgetCommand, configuredBudget } from "../../agent/raise-budget.js";
import { markdownOf } from "../../agent/sessions/markdown.js";
import { ageText } from "../../base/human.js";
import { visible } from "../../base/visible-text.js";
import { failure, HermesError } from "../../tool/errors.js";
import { brief } from "../output.js";
import { assertPerson } from "../person.js";
import type { ChatApp } from "./chat-app.js";
import { conversationRows } from "./welcome.js";

const LISTED = 10;
const SHOWN_PATHS = 12;

export async function profile(app: ChatApp, name: string): Promise<void> {
  if (name !== "") await app.chat.setProfile(name);
  const { isPlanning, agent } = app.chat;
  app.note(
    isPlanning
      ? `Plan mode: ${agent.session.profile}. It holds until /plan ends it.`
      : `Profile ${agent.session.profile}. All of them: hermes permissions`,
  );
}

export async function model(app: ChatApp, name: string): Promise<void> {
  if (name !== "") await app.chat.setModel(name);
  const { name: now, contextTokens } = app.chat.model;
  app.note(contextTokens === undefined ? now : `${now}, reads ${contextTokens} tokens at once`);
}

export async function plan(app: ChatApp): Promise<void> {
  const { chat } = app;
  await chat.setPlan(!chat.isPlanning);
  app.note(
    chat.isPlanning
      ? "Plan mode: the agent only reads. /plan ends it."
      : "Plan mode is over: the agent may act.",
  );
}

/** Raised here or elsewhere, it is found before the next request; work that waited for it goes on at once. */
export async function budget(app: ChatApp, typed: string): Promise<void> {
  if (typed !== "") assertPerson("A budget is raised by a person", "Ask the person to raise it.");
  const { store, runtime } = app.parts;
  const { conversation } = app.chat.agent;
  const parts = { store, conversation, budget: configuredBudget(runtime.config) };
  const { text, isRaised } = await budgetCommand(parts, typed);
  app.note(`${text}.`);
  if (isRaised) await app.turns.goOn();
}

/** What was said comes back into the line, to be said otherwise. */
export async function undo(app: ChatApp): Promise<void> {
  const { out } = app.parts;
  const undone = await app.chat.undo();
  if (undone === undefined) return app.note("There is no turn of this chat to take back.");
  const { said, restored, left } = undone;
  const { workspace } = app.chat.agent.session.scope.info;
  const isThere = (path: string) => existsSync(resolve(workspace, path));
  app.print([
    `${out.mark("ok")} The last turn is taken back${restored.length === 0 ? "; it changed no files" : ""}.`,
    ...restored
      .slice(0, SHOWN_PATHS)
      .map((path) => out.color.dim(`  ${isThere(path) ? "restored" : "removed"} ${visible(path)}`)),
    ...(restored.length > SHOWN_PATHS ? [out.color.dim(`  and ${restored.length - SHOWN_PATHS} more`)] : []),
    ...left
      .slice(0, SHOWN_PATHS)
      .map((path) => `  ${out.mark("warning")} left alone, changed since: ${visible(path)}`),
    ...(left.length > SHOWN_PATHS ? [`  and ${left.length - SHOWN_PATHS} more left alone`] : []),
    "",
  ]);
  app.offer(said);
}

export async function startNew(app: ChatApp): Promise<void> {
  await app.chat.change(undefined);
  app.note("A new conversation.");
}

export async function resume(app: ChatApp, id: string): Promise<void> {
  const { store, out } = app.parts;
  if (id === "") {
    const newest = await store.list({ limit: LISTED });
    const rows = newest.map(
      ({ id: session, title, updatedAt }) =>
        `  ${out.color.cyan(session)}  ${out.color.dim(ageText(Date.now() - updatedAt))}  ${brief(visible(title))}`,
    );
    return app.print([...rows, out.color.dim("  /resume ID goes on with one of them"), ""]);
  }
  const [newest] = id === "last" ? await store.list({ limit: 1 }) : [];
  await app.chat.change(newest?.id ?? id);
  app.print(await conversationRows(app));
  await app.turns.finishCutOff();
}

export async function exportTo(app: ChatApp, file: string): Promise<void> {
  const { store, out } = app.parts;
  const { agent } = app.chat;
  const conversation = await store.get(agent.conversation);
  if (conversation === undefined)
    throw new HermesError(failure("not_found", "This conversation has been deleted meanwhile"));
  const path = resolve(agent.session.cwd, file === "" ? `${agent.conversation}.md` : file);
  // A file that is there already is somebody's.
  await pipeline(markdownOf(store, conversation), createWriteStream(path, { flags: "wx", mode: 0o600 }));
  app.print([`${out.mark("ok")} ${visible(path)}`]);
}
