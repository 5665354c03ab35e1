import type { ChatWorker } from "./chat-worker.js";
import type { Role } from "./people.js";

type Command = (worker: ChatWorker, role: Role) => string | Promise<string>;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["/stop", (worker) => (worker.stopTurn() ? "Stopping." : "Nothing is running.")],
  [
    "/new",
    async (worker, role) => {
      await worker.startAnew(role);
      return "A new conversation begins with your next message.";
    },
  ],
  [
    "/start",
    () => "I am here. Write what you want; /new begins a new conversation, /stop ends what I am doing.",
  ],
]);

/** What is done at once, also while a turn runs; undefined when the text is for the agent. */
export function chatCommand(text: string): Command | undefined {
  const typed = text.trim().toLowerCase();
  const [, amount] = /^\/budget(?:\s+(.*))?$/.exec(typed) ?? [];
  if (amount === undefined && typed !== "/budget") return COMMANDS.get(typed);
  return (worker, role) =>
    role === "owner" ? worker.budget(amount ?? "") : "Only an owner of mine can do that.";
}
