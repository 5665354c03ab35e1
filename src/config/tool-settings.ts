import type { ConfigKey } from "./schema.js";

const text = { kind: "string" } as const;
const seconds = { kind: "number", min: 1, max: 86_400 } as const;
const boolean = { kind: "boolean" } as const;
const anything = { kind: "map", of: "anything" } as const;

/**
 * Settings of built-in tools, a section for those that belong together; handlers find a section as
 * `ctx.settings.<section>`. Keys and passwords of services are secrets by name (`ctx.secrets`), not settings.
 */
// biome-ignore format: one key per line keeps the table readable as a table.
export const TOOL_SETTINGS = [
  { path: "web.search_engine", type: text, default: "", project: "never", about: "Engines of `web_search`, in the order they are tried (`brave, searxng, local`); empty: those that have a key or an address, then `local`" },
  { path: "web.searxng_url", type: text, default: "", project: "never", env: "SEARXNG_URL", about: "Address of a SearXNG server that gives JSON" },
  { path: "web.local_folder", type: text, default: "", project: "never", about: "Folder of documents that the engine `local` of `web_search` searches; empty: the working folder" },
  { path: "web.cache_minutes", type: { kind: "number", min: 0, max: 10_080 }, default: 20, project: "never", about: "How long the answers of search engines are kept; 0: not at all" },
  { path: "web.extract_chars", type: { kind: "integer", min: 2_000, max: 500_000 }, default: 15_000, project: "lower", about: "Characters of a page that `web_extract` returns; the whole text is in a file" },
  { path: "browser.executable", type: text, default: "", project: "never", about: "Browser program; empty: the first Chromium, Chrome or Edge that is found" },
  { path: "browser.cdp_url", type: text, default: "", project: "never", envAliases: ["BROWSER_CDP_URL"], about: "Address of a running browser to drive instead (`http://127.0.0.1:9222`)" },
  { path: "browser.headless", type: boolean, default: true, project: "never", about: "Run the browser without a window" },
  { path: "browser.sandbox", type: { kind: "enum", values: ["auto", "off"] }, default: "auto", project: "never", policy: true, about: "The browser's own sandbox: `auto`: on unless Hermes runs as root, where browsers have none; `off`: for containers that forbid it" },
  { path: "browser.idle_seconds", type: { kind: "number", min: 30, max: 86_400 }, default: 300, project: "never", envAliases: ["BROWSER_INACTIVITY_TIMEOUT"], about: "Seconds after which a browser that nobody uses is closed" },
  { path: "browser.command_timeout", type: seconds, default: 30, project: "never", about: "Seconds that one action in the browser may take" },
  { path: "browser.dialog_policy", type: { kind: "enum", values: ["must_respond", "auto_dismiss", "auto_accept"] }, default: "must_respond", project: "never", about: "What happens to dialogs of a page: the model answers, they are dismissed, or accepted" },
  { path: "browser.dialog_timeout", type: seconds, default: 300, project: "never", about: "Seconds until an unanswered dialog is dismissed" },
  { path: "vision.model", type: text, default: "", project: "never", about: "Model that looks at pictures (`vision_analyze`); empty: the one of `vision.base_url`'s server" },
  { path: "vision.base_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of an OpenAI-compatible server with a vision model; empty: OpenAI when `OPENAI_API_KEY` is set" },
  { path: "image_gen.provider", type: { kind: "enum", values: ["auto", "openai", "fal", "sdwebui", "comfyui"] }, default: "auto", project: "never", about: "Who makes the pictures of `image_generate`; `auto`: the first that has a key or an address" },
  { path: "image_gen.model", type: text, default: "", project: "never", about: "Model for pictures; empty: the provider's usual one" },
  { path: "image_gen.base_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of the server for pictures, where it is not the vendor's own" },
  { path: "tts.provider", type: { kind: "enum", values: ["auto", "espeak", "kokoro", "openai", "elevenlabs"] }, default: "auto", project: "never", about: "Who speaks in `text_to_speech`; `auto`: Kokoro when it is set up, else espeak-ng, else a vendor with a key" },
  { path: "tts.voice", type: text, default: "", project: "never", about: "Voice, by the name the provider gives it" },
  { path: "tts.model", type: text, default: "", project: "never", about: "Model that speaks at a vendor or server; empty: the usual one" },
  { path: "tts.base_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of an OpenAI-compatible server for speech; its key, if it wants one, is `TTS_API_KEY`" },
  { path: "stt.provider", type: { kind: "enum", values: ["auto", "moonshine", "whisper", "openai"] }, default: "auto", project: "never", about: "Who listens in `audio_transcribe`; `auto`: Moonshine when it is set up, else whisper.cpp, else a server" },
  { path: "stt.model", type: text, default: "", project: "never", about: "Model that listens: a name at a server, or a file for whisper.cpp" },
  { path: "stt.base_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of an OpenAI-compatible server that transcribes; its key, if it wants one, is `STT_API_KEY`" },
  { path: "email.smtp_url", type: text, default: "", project: "never", secret: true, about: "Mail server: `smtp://user:password@host:587` or `smtps://…`; a password is sent only over TLS unless `?requireTLS=false` is added" },
  { path: "email.from", type: text, default: "", project: "never", about: "Sender of mails; empty: the user of `email.smtp_url`" },
  { path: "webhooks", type: anything, default: {}, project: "never", about: "Webhooks: name → `url` that `send_message` posts to, `secret` that signs" },
  { path: "calendars", type: anything, default: {}, project: "never", about: "Calendars: name → `url` (CalDAV) or `path` (.ics), `username`, `password_env`" },
  { path: "databases", type: anything, default: {}, project: "never", about: "Databases that calls may name: name → `url`, `password_env`; they may lie in a private network" },
  { path: "services", type: anything, default: {}, project: "never", about: "Services of `api_call`: name → `openapi` (file or URL), `base_url`, `auth`" },
  { path: "storage", type: anything, default: {}, project: "never", about: "Storage of `cloud_storage`: name → `endpoint`, `region`, `bucket`, `access_key_env`, `secret_key_env`" },
  { path: "s3.region", type: text, default: "us-east-1", project: "never", env: "AWS_REGION", about: "Region of storage that is not configured by name" },
  { path: "s3.endpoint", type: text, default: "", project: "never", env: "AWS_ENDPOINT_URL", notFromDotenv: true, about: "Address of storage that is not configured by name; empty: Amazon's in that region" },
  { path: "homeassistant.url", type: text, default: "http://homeassistant.local:8123", project: "never", env: "HASS_URL", notFromDotenv: true, about: "Address of Home Assistant" },
  { path: "honcho.url", type: text, default: "", project: "never", env: "HONCHO_URL", notFromDotenv: true, about: "Address of a Honcho server of your own; empty: `https://api.honcho.dev`, which needs `HONCHO_API_KEY`" },
  { path: "honcho.workspace", type: text, default: "hermes", project: "never", about: "Workspace at Honcho" },
  { path: "honcho.peer", type: text, default: "user", project: "never", about: "Name of the person at Honcho" },
  { path: "rl.command", type: text, default: "", project: "never", policy: true, about: "Command that trains: it gets the run's configuration as a JSON file and writes metrics as JSON lines; see [rl.md](rl.md)" },
  { path: "rl.environments_folder", type: text, default: "", project: "never", about: "Folder with one YAML or JSON file per training environment" },
] as const satisfies readonly ConfigKey[];

/** The sections above, by their first name. */
export const TOOL_SECTIONS: ReadonlySet<string> = new Set(
  TOOL_SETTINGS.map(({ path }) => path.split(".")[0] ?? path),
);
