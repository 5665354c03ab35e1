import { isRecord } from "../../base/record.js";
import type { CallContext } from "../../tool/tool.js";

export interface BrowserSettings {
  readonly executable: string;
  readonly cdpUrl: string;
  readonly headless: boolean;
  readonly sandbox: boolean;
  readonly idleMs: number;
  /** For one action. */
  readonly timeoutMs: number;
  readonly dialogPolicy: "must_respond" | "auto_dismiss" | "auto_accept";
  readonly dialogMs: number;
}

/** The section `browser` of the configuration, with its defaults where a program brings no configuration. */
export function browserSettings({ settings }: Pick<CallContext, "settings">): BrowserSettings {
  const given = isRecord(settings.browser) ? settings.browser : {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const ms = (value: unknown, seconds: number) => (typeof value === "number" ? value : seconds) * 1000;
  const policy = given.dialog_policy;
  return {
    executable: text(given.executable),
    cdpUrl: text(given.cdp_url),
    headless: given.headless !== false,
    // Chromium refuses to be its own jailer when it runs as root.
    sandbox: given.sandbox !== "off" && process.getuid?.() !== 0,
    idleMs: ms(given.idle_seconds, 300),
    timeoutMs: ms(given.command_timeout, 30),
    dialogPolicy: policy === "auto_dismiss" || policy === "auto_accept" ? policy : "must_respond",
    dialogMs: ms(given.dialog_timeout, 300),
  };
}
