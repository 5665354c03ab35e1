import { visible } from "../../base/visible-text.js";
import { textOf } from "../../tool/content.js";
import { VERSION } from "../../version.js";
import type { ChatApp } from "./chat-app.js";
import { MarkdownStream } from "./markdown.js";

/** Messages of an old conversation that are shown when it is opened again. */
const SHOWN_AGAIN = 6;

export async function welcomeRows(app: ChatApp): Promise<readonly string[]> {
  const { out } = app.parts;
  const { model, agent } = app.chat;
  const head = `${out.emoji("☤")}${out.color.bold("Hermes")} ${VERSION} · ${visible(model.name)} · ${visible(agent.session.cwd)}`;
  return [
    head,
    out.color.dim("/help shows the commands · Ctrl-J breaks the line · Ctrl-C twice quits"),
    "",
    ...(await conversationRows(app)),
  ];
}

/** The end of what was said before. */
export async function conversationRows(app: ChatApp): Promise<readonly string[]> {
  const { store, out } = app.parts;
  const stored = await store.messages(app.chat.agent.conversation, { last: 4 * SHOWN_AGAIN });
  const said = stored
    .filter(({ role, content }) => (role === "user" || role === "assistant") && content !== "")
    .slice(-SHOWN_AGAIN);
  return said.flatMap(({ role, content }) => {
    const text = typeof content === "string" ? content : textOf(content);
    if (role === "user") return [out.color.bold(`› ${visible(text.replace(/\s+/g, " ").trim())}`)];
    const markdown = new MarkdownStream(out, () => app.columns);
    return [...markdown.feed(text), ...markdown.end(), ""];
  });
}
