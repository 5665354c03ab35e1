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
  { path: "gateways.discord.token", type: text, default: "", project: "never", secret: true, envAliases: ["DISCORD_BOT_TOKEN"], about: "Token of the Discord bot, from its Bot page; the Message Content Intent must be on" },
  { path: "gateways.discord.api_root", type: text, default: "https://discord.com/api", project: "never", notFromDotenv: true, envAliases: ["DISCORD_API_ROOT"], about: "Address of Discord's API" },
  { path: "gateways.discord.allowed_users", type: people, default: [], project: "never", policy: true, envAliases: ["DISCORD_ALLOWED_USERS"], about: "Discord users, by id, who may talk to the agent" },
  { path: "gateways.discord.owners", type: people, default: [], project: "never", policy: true, about: "Those of them who may approve calls and are told why something failed; empty: all of them" },
  { path: "gateways.slack.token", type: text, default: "", project: "never", secret: true, envAliases: ["SLACK_BOT_TOKEN"], about: "Token of the Slack app's bot (`xoxb-…`)" },
  { path: "gateways.slack.app_token", type: text, default: "", project: "never", secret: true, envAliases: ["SLACK_APP_TOKEN"], about: "Token of the Slack app for socket mode (`xapp-…`)" },
  { path: "gateways.slack.api_root", type: text, default: "https://slack.com/api/", project: "never", notFromDotenv: true, envAliases: ["SLACK_API_ROOT"], about: "Address of Slack's Web API" },
  { path: "gateways.slack.allowed_users", type: people, default: [], project: "never", policy: true, envAliases: ["SLACK_ALLOWED_USERS"], about: "Slack users, by id (`U…`), who may talk to the agent" },
  { path: "gateways.slack.owners", type: people, default: [], project: "never", policy: true, about: "Those of them who may approve calls and are told why something failed; empty: all of them" },
  { path: "gateways.email.imap_url", type: text, default: "", project: "never", secret: true, about: "Mailbox the agent reads: `imaps://user:password@host`" },
  { path: "gateways.email.smtp_url", type: text, default: "", project: "never", secret: true, about: "Mail server its answers leave through; empty: that of `email.smtp_url`" },
  { path: "gateways.email.address", type: text, default: "", project: "never", about: "Address of the agent; empty: the user of `gateways.email.imap_url`" },
  { path: "gateways.email.verdicts_of", type: people, default: [], project: "never", policy: true, about: "Names by which the receiving mail server signs its `Authentication-Results` (`mx.example.org`); empty: the host of `gateways.email.imap_url` and the domain of the address. A mail without its good verdict is not answered" },
  { path: "gateways.email.allowed_users", type: people, default: [], project: "never", policy: true, about: "Mail addresses that may talk to the agent" },
  { path: "gateways.email.owners", type: people, default: [], project: "never", policy: true, about: "Those of them who may approve calls and are told why something failed; empty: all of them" },
  { path: "gateways.guest_toolsets", type: people, default: ["hermes-webhook"], project: "never", policy: true, about: "Toolsets of those who may talk but own nothing, instead of their platform's; empty: guests get no answer" },
] as const satisfies readonly ConfigKey[];
