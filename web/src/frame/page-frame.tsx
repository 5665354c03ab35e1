import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { approvalsQuery } from "../api/queries.js";
import { OfflineStrip } from "../ui/states.js";

export type PageState = "loading" | "ready" | "empty" | "error";

/** What every page is made of: its bar (title, one fact, controls), what is wrong with the connection, the content. */
export function PageFrame(props: {
  readonly title: string;
  readonly state: PageState;
  /** One fact, beside the title. */
  readonly fact?: ReactNode;
  readonly controls?: ReactNode;
  readonly children: ReactNode;
}) {
  const open = useQuery(approvalsQuery).data?.length ?? 0;
  useEffect(() => {
    document.title = `${open > 0 ? `(${open}) ` : ""}${props.title} · Hermes Tools`;
  }, [open, props.title]);
  return (
    <main className="main" id="main" data-state={props.state} tabIndex={-1}>
      <header className="bar">
        <h1>{props.title}</h1>
        {props.fact !== undefined && <span className="sub">{props.fact}</span>}
        {props.controls !== undefined && <span className="end">{props.controls}</span>}
      </header>
      <OfflineStrip />
      {props.children}
    </main>
  );
}

/** The state of a page that hangs on one question. */
export function stateOf(
  query: { readonly isPending: boolean; readonly isError: boolean; readonly data: unknown },
  isEmpty: boolean,
): PageState {
  if (query.data === undefined) return query.isError ? "error" : "loading";
  return isEmpty ? "empty" : "ready";
}
