import { appendConfigValue, removeConfigValue } from "../config/edit.js";
import type { EditResult } from "../config/edit-result.js";

/** Switches a tool on or off: its name goes out of or into `tools.disabled` of the person's own configuration. */
export function switchTool(change: {
  readonly home: string;
  /** Canonical. */
  readonly name: string;
  readonly on: boolean;
}): Promise<EditResult> {
  const { home, name, on } = change;
  const edit = on ? removeConfigValue : appendConfigValue;
  return edit({ home, key: "tools.disabled", items: [name] });
}
