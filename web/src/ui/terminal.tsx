import type { Terminal as Xterm } from "@xterm/xterm";
import { useEffect, useRef } from "react";
import "@xterm/xterm/css/xterm.css";

export interface TerminalHandle {
  write(data: string | Uint8Array): void;
  clear(): void;
}

/**
 * A terminal that shows what a program writes and, with `onData`, sends what is typed. It is loaded when the first one
 * is shown. `onReady` gets the handle to write with.
 */
export function Terminal(props: {
  readonly label: string;
  readonly onReady: (terminal: TerminalHandle) => void;
  readonly onData?: ((data: string) => void) | undefined;
  readonly rows?: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let terminal: Xterm | undefined;
    let gone = false;
    let stopMirror: (() => void) | undefined;
    void import("@xterm/xterm").then(({ Terminal: Made }) => {
      if (gone || place.current === null) return;
      const style = getComputedStyle(document.documentElement);
      const colour = (name: string) => style.getPropertyValue(name).trim();
      terminal = new Made({
        rows: latest.current.rows ?? 24,
        cols: Math.max(20, Math.floor((place.current.clientWidth - 20) / 7.3)),
        convertEol: true,
        disableStdin: latest.current.onData === undefined,
        fontFamily: colour("--font-mono"),
        fontSize: 12,
        scrollback: 5_000,
        screenReaderMode: true,
        theme: {
          background: colour("--inset"),
          foreground: colour("--text"),
          cursor: colour("--accent"),
          selectionBackground: colour("--accent-line"),
        },
      });
      stopMirror = mirrorStyles(place.current);
      terminal.open(place.current);
      terminal.textarea?.setAttribute("aria-label", latest.current.label);
      terminal.onData((data) => latest.current.onData?.(data));
      const made = terminal;
      latest.current.onReady({ write: (data) => made.write(data), clear: () => made.reset() });
    });
    return () => {
      gone = true;
      terminal?.dispose();
      stopMirror?.();
    };
  }, []);
  return <div className="term" ref={place} role="group" aria-label={props.label} />;
}

/** xterm writes style elements, which the page's policy refuses; sheets made by script are allowed, so they get the same rules. */
function mirrorStyles(place: HTMLElement): () => void {
  const sheets = new Map<Node, CSSStyleSheet>();
  const mirror = () => {
    for (const element of place.querySelectorAll("style")) {
      let sheet = sheets.get(element);
      if (sheet === undefined) {
        sheet = new CSSStyleSheet();
        sheets.set(element, sheet);
        document.adoptedStyleSheets.push(sheet);
      }
      sheet.replaceSync(element.textContent ?? "");
    }
  };
  const observer = new MutationObserver(mirror);
  observer.observe(place, { childList: true, subtree: true, characterData: true });
  return () => {
    observer.disconnect();
    const gone = new Set(sheets.values());
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !gone.has(sheet));
  };
}
