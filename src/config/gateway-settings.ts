import type { ConfigKey } from "./schema.js";

const text = { kind: "string" } as const;
const people = { kind: "list", numbers: true } as const;

/** Where people of chat platforms reach the agent, and who of them may. */
// biome-ignore format: one key per line keeps the table readable as a table.
export const GATEWAY_SETTINGS = [
  { path: "gateways.telegram.token", type: text, default: "", project: "never", secret: true, envAliases: ["TELEGRAM_BOT_TOKEN"], about: "Token of the Telegram bot, from @BotFather" },
  { path: "gateways.telegram.api_root", type: text, default: "https://api.telegram.org", project: "never", notFromDotenv: true, envAliases: ["TELEGRAM_API_ROOT"], about: "Address of the Bot API server" },
  { path: "gateways.telegram.allowed_users", type: people, default: [], project: "never", policy: true, envAliases: ["TELEGRAM_ALLOWED_USERS"], about: "Telegram users, by number, who may talk to the agent; others get a pairing code at most" },
  { path: "gateways.telegram.owners", type: people, default: [], project: "never", policy: true, about: "Those of them who may approve calls and are told why something failed; empty: all of them" },
] as const satisfies readonly ConfigKey[];
