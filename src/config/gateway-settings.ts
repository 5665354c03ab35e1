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
  { path: "gateways.email.imap_url", type: text, default: "", project: "never", secret: true, about: "Mailbox the agent reads: `imaps://user:password@host`" },
  { path: "gateways.email.smtp_url", type: text, default: "", project: "never", secret: true, about: "Mail server its answers leave through; empty: that of `email.smtp_url`" },
  { path: "gateways.email.address", type: text, default: "", project: "never", about: "Address of the agent; empty: the user of `gateways.email.imap_url`" },
  { path: "gateways.email.verdicts_of", type: people, default: [], project: "never", policy: true, about: "Names by which the receiving mail server signs its `Authentication-Results` (`mx.example.org`); empty: the host of `gateways.email.imap_url` and the domain of the address. A mail without its good verdict is not answered" },
  { path: "gateways.email.allowed_users", type: people, default: [], project: "never", policy: true, about: "Mail addresses that may talk to the agent" },
  { path: "gateways.email.owners", type: people, default: [], project: "never", policy: true, about: "Those of them who may approve calls and are told why something failed; empty: all of them" },
] as const satisfies readonly ConfigKey[];
