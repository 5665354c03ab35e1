import type { ITheme, Terminal as Xterm } from "@xterm/xterm";
import { useEffect, useRef } from "react";
import { onThemeChange } from "../lib/settings.js";
import "@xterm/xterm/css/xterm.css";

export interface TerminalHandle {
  write(data: string | Uint8Array): void;
  clear(): void;
}

/**
 * A terminal that shows what a program writes and, with `onData`, sends what is typed. It is loaded when the first one
 * is shown, and as large as the place it is in. `onReady` gets the handle to write with.
 */
export function Terminal(props: {
  readonly label: string;
  readonly onReady: (terminal: TerminalHandle) => void;
  readonly onData?: ((data: string) => void) | undefined;
}) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let gone = false;
    const ends: (() => void)[] = [];
    void import("@xterm/xterm").then(({ Terminal: Made }) => {
      const box = place.current;
      if (gone || box === null) return;
      const terminal = new Made({
        convertEol: true,
        disableStdin: latest.current.onData === undefined,
        fontFamily: getComputedStyle(box).getPropertyValue("--font-mono").trim(),
        fontSize: 12,
        lineHeight: 1.25,
        scrollback: 5_000,
        screenReaderMode: true,
        minimumContrastRatio: 4.5,
        cursorInactiveStyle: "none",
        theme: themeNow(),
      });
      ends.push(() => terminal.dispose(), openWithoutStyleElements(terminal, box));
      terminal.textarea?.setAttribute("aria-label", latest.current.label);
      if (latest.current.onData === undefined) terminal.textarea?.setAttribute("tabindex", "-1");
      terminal.onData((data) => latest.current.onData?.(data));
      const watch = new ResizeObserver(() => fillRoom(terminal, box));
      watch.observe(box);
      ends.push(
        () => watch.disconnect(),
        onThemeChange(() => {
          terminal.options.theme = themeNow();
        }),
      );
      latest.current.onReady({ write: (data) => terminal.write(data), clear: () => terminal.reset() });
    });
    return () => {
      gone = true;
      for (const end of ends) end();
    };
  }, []);
  return <div className="term" ref={place} role="group" aria-label={props.label} />;
}

/** As many columns and lines as there is room for. */
function fillRoom(terminal: Xterm, box: HTMLElement): void {
  const screen = box.querySelector<HTMLElement>(".xterm-screen");
  if (screen === null || screen.offsetWidth === 0) return;
  const style = getComputedStyle(box);
  const room = {
    width:
      box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight) - 14,
    height: box.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom),
  };
  const cols = Math.max(20, Math.floor(room.width / (screen.offsetWidth / terminal.cols)));
  const rows = Math.max(4, Math.floor(room.height / (screen.offsetHeight / terminal.rows)));
  if (cols !== terminal.cols || rows !== terminal.rows) terminal.resize(cols, rows);
}

function themeNow(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const colours = {
    black: colour("--text"),
    red: colour("--error"),
    green: colour("--ok"),
    yellow: colour("--timeout"),
    blue: colour("--running"),
    magenta: colour("--denied"),
    cyan: colour("--accent"),
    white: colour("--text-2"),
  };
  const bright = Object.fromEntries(
    Object.entries(colours).map(([name, value]) => [
      `bright${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      value,
    ]),
  );
  return {
    ...colours,
    ...bright,
    background: colour("--inset"),
    foreground: colour("--text"),
    cursor: colour("--accent"),
    selectionBackground: colour("--accent-line"),
  };
}

/**
 * xterm writes style elements, which the page's policy refuses. It gets inert elements in their place, and what it
 * writes into them becomes sheets made by script, which are allowed.
 */
function openWithoutStyleElements(terminal: Xterm, box: HTMLElement): () => void {
  const inert: HTMLElement[] = [];
  const sheets = new Map<Node, CSSStyleSheet>();
  const mirror = () => {
    for (const element of inert) {
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
  const create = document.createElement;
  document.createElement = ((tag: string, options?: ElementCreationOptions) => {
    if (tag !== "style") return create.call(document, tag, options);
    const element = create.call(document, "template");
    inert.push(element);
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return element;
  }) as typeof document.createElement;
  try {
    terminal.open(box);
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
  mirror();
  return () => {
    observer.disconnect();
    const gone = new Set(sheets.values());
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !gone.has(sheet));
  };
}
