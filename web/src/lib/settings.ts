import { useSyncExternalStore } from "react";

/** What this browser remembers of how somebody likes the dashboard. */
export type Theme = "system" | "light" | "dark";
interface Preferences {
  readonly theme: Theme;
  readonly singleKeys: boolean;
}

const KEY = "hermes-preferences";
const DEFAULTS: Preferences = { theme: "system", singleKeys: true };
const listeners = new Set<() => void>();
let current = load();

function load(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>) };
  } catch {
    return DEFAULTS;
  }
}

export function preferences(): Preferences {
  return current;
}

export function setPreferences(part: Partial<Preferences>): void {
  current = { ...current, ...part };
  localStorage.setItem(KEY, JSON.stringify(current));
  applyTheme();
  for (const listener of listeners) listener();
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  return current.theme === "system" ? DARK.matches : current.theme === "dark";
}

export function applyTheme(): void {
  if (current.theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current.theme;
}

export function switchTheme(): void {
  setPreferences({ theme: isDark() ? "light" : "dark" });
}

/** Redraw what has read colours itself: canvases and terminals. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  DARK.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    DARK.removeEventListener("change", listener);
  };
}
