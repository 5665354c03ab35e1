import type { ReactNode } from "react";
import { ApiError } from "../api/client.js";
import { visible } from "../lib/visible.js";
import { Icon } from "./icon.js";

/** What became of a deed, beside the button that did it; an error tells why and what to do. */
export function Notice(props: { readonly error?: unknown; readonly children?: ReactNode }) {
  const { error, children } = props;
  if (error === undefined || error === null) {
    if (children === undefined || children === null || children === false) return null;
    return (
      <p className="notice" data-st="ok" role="status">
        <Icon name="s-ok" size="s" />
        <span>{children}</span>
      </p>
    );
  }
  const hint = error instanceof ApiError ? error.hint : undefined;
  return (
    <p className="notice" data-st="error" role="alert">
      <Icon name="s-error" size="s" />
      <span>
        {visible(error instanceof Error ? error.message : String(error))}{" "}
        {hint !== undefined && visible(hint)}
      </span>
    </p>
  );
}
