import type { AnchorHTMLAttributes } from "react";
import { followLink } from "../router.js";

/** A link inside the dashboard: `href` comes from `pathTo`. */
export function Link(props: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string }) {
  return (
    <a
      {...props}
      onClick={(event) => {
        props.onClick?.(event);
        if (!event.defaultPrevented) followLink(event);
      }}
    />
  );
}
