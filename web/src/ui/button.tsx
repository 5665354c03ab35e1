import type { ButtonHTMLAttributes, ReactNode } from "react";
import { followLink } from "../router.js";
import { Icon, type IconName } from "./icon.js";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children" | "disabled"> {
  /** Ink for the one thing to do here, plain for what is beside the point. */
  readonly look?: "ink" | "bordered" | "plain";
  readonly icon?: IconName;
  readonly keys?: string;
  readonly busy?: boolean;
  /** Why it cannot be pressed now; shown on hover and read out. */
  readonly disabledBecause?: string | undefined;
  readonly children?: ReactNode;
}

/** A disabled button stays reachable, so that everybody can find out why. */
export function Button({
  look = "bordered",
  icon,
  keys,
  busy,
  disabledBecause,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const off = disabledBecause !== undefined || busy === true;
  const classes = ["btn", look === "ink" && "primary", look === "plain" && "plain", className]
    .filter(Boolean)
    .join(" ");
  return (
    <button
      type="button"
      {...rest}
      className={classes}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      title={disabledBecause ?? rest.title}
      onClick={off ? (event) => event.preventDefault() : onClick}
    >
      {busy === true ? (
        <Icon name="s-running" className="spin" />
      ) : (
        icon !== undefined && <Icon name={icon} />
      )}
      {children}
      {keys !== undefined && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}

/** An icon needs a name. */
export function IconButton({
  label,
  ...rest
}: Omit<ButtonProps, "children" | "look"> & { readonly label: string; readonly icon: IconName }) {
  return (
    <Button
      {...rest}
      look="plain"
      aria-label={label}
      title={rest.disabledBecause ?? label}
      className={`icon ${rest.className ?? ""}`}
    />
  );
}

/** Looks like a button and goes somewhere. */
export function ButtonLink(props: {
  readonly href: string;
  readonly icon?: IconName;
  readonly look?: "bordered" | "plain";
  readonly children: ReactNode;
}) {
  return (
    <a className={props.look === "plain" ? "btn plain" : "btn"} href={props.href} onClick={followLink}>
      {props.icon !== undefined && <Icon name={props.icon} />}
      {props.children}
    </a>
  );
}
