import { useSyncExternalStore } from "react";

/** Where we are: the page, what follows it in the path (a tool, a session), and the query. */
export interface Place {
  readonly page: string;
  readonly item: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

const listeners = new Set<() => void>();
let here = read();

function read(): Place {
  const [, page = "", ...rest] = location.pathname.split("/");
  const item = rest.length === 0 || rest.join("/") === "" ? undefined : decode(rest.join("/"));
  return {
    page: page === "" ? "live" : page,
    item,
    query: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function changed(): void {
  here = read();
  for (const listener of listeners) listener();
}
addEventListener("popstate", changed);

export function usePlace(): Place {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => here,
  );
}

export function pathTo(
  page: string,
  options: {
    readonly item?: string | undefined;
    readonly query?: Readonly<Record<string, string | undefined>>;
  } = {},
): string {
  const given = Object.entries(options.query ?? {}).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  const search = new URLSearchParams(given).toString();
  const item = options.item === undefined ? "" : `/${encodeURIComponent(options.item)}`;
  return `/${page}${item}${search === "" ? "" : `?${search}`}`;
}

/** `replace` for what is no step of its own, such as typing into a filter. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  if (path === location.pathname + location.search) return;
  if (options.replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  changed();
}

/** Changes some of the query and leaves the rest; undefined takes a part away. */
export function setQuery(
  part: Readonly<Record<string, string | undefined>>,
  options: { readonly replace?: boolean } = { replace: true },
): void {
  go(pathTo(here.page, { item: here.item, query: { ...here.query, ...part } }), options);
}

/** For onClick of links: plain clicks stay in the page, all others are the browser's. */
export function followLink(event: {
  readonly currentTarget: HTMLAnchorElement;
  readonly button: number;
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  preventDefault(): void;
}): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { pathname, search } = event.currentTarget;
  go(pathname + search);
}
