import { useEffect, useRef } from "react";
import { isTyping } from "../lib/keys.js";
import { preferences } from "../lib/settings.js";
import { PAGES } from "../pages/index.js";
import { go, pathTo } from "../router.js";

const SECOND_KEY_MS = 1_200;

/** Ctrl-K from everywhere, `g` and a letter outside fields. */
export function useGoKeys(options: { readonly onPalette: () => void }): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    let pressedG = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        latest.current.onPalette();
        return;
      }
      if (
        event.metaKey ||
        event.ctrlKey ||
        event.altKey ||
        isTyping(event.target) ||
        !preferences().singleKeys
      )
        return;
      const isSecond = event.timeStamp - pressedG < SECOND_KEY_MS;
      pressedG = Number.NEGATIVE_INFINITY;
      if (isSecond) {
        const entry = PAGES.find(({ key }) => key === event.key);
        if (entry === undefined) return;
        event.preventDefault();
        // The page's own keys must not hear the second letter.
        event.stopImmediatePropagation();
        go(pathTo(entry.id));
      } else if (event.key === "g") pressedG = event.timeStamp;
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, []);
}
