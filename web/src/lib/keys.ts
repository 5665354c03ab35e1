import { useEffect, useRef } from "react";
import { preferences } from "./settings.js";

/** Fields take every letter themselves; so do dialogs and terminals. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable], [role=dialog], .term") !== null
  );
}

type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/**
 * Single keys of a page, by `event.key`. They do nothing in fields, with a modifier held, or when somebody has switched
 * them off; `Escape` always works outside fields.
 */
export function useKeys(keys: KeyMap): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.isComposing)
        return;
      if (isTyping(event.target)) return;
      if (event.key !== "Escape" && !preferences().singleKeys) return;
      // A pressed button answers Space and Enter itself.
      if (
        (event.key === " " || event.key === "Enter") &&
        event.target instanceof HTMLElement &&
        event.target.closest("button, a, [role=row]") !== null
      )
        return;
      const action = latest.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
