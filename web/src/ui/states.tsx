import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client.js";
import { stream, useStreamState } from "../events/use-events.js";
import { clock } from "../lib/format.js";
import { useNow } from "../lib/now.js";
import { visible } from "../lib/visible.js";
import { Code, CopyButton, Glyph } from "./bits.js";
import { Button, ButtonLink } from "./button.js";
import { Icon, type IconName } from "./icon.js";

const SHOW_AFTER_MS = 200;

/** Shaped like the content it stands for; quick answers never show it. */
export function Skeleton(props: { readonly rows?: number; readonly label?: string }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="bone" role="status" aria-label={props.label ?? "Loading"}>
      {shown &&
        Array.from({ length: props.rows ?? 8 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: all alike
          <div key={index} aria-hidden="true">
            <i />
            <i />
            <i />
            <i />
          </div>
        ))}
    </div>
  );
}

/** What will be here, and the command to try. */
export function Empty(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly command?: string;
  readonly action?: ReactNode;
}) {
  return (
    <div className="blank">
      <Glyph icon={props.icon} big />
      <h2>{props.title}</h2>
      {props.children !== undefined && <p>{props.children}</p>}
      {props.command !== undefined && (
        <>
          <Code label="Command to try">{props.command}</Code>
          <CopyButton text={props.command} />
        </>
      )}
      {props.action}
    </div>
  );
}

/** What went wrong, why, what still works, and another try. */
export function ErrorState(props: {
  readonly title: string;
  readonly error: unknown;
  readonly stillWorks?: string;
  readonly onRetry?: () => void;
  readonly busy?: boolean;
}) {
  const { error } = props;
  const hint = error instanceof ApiError ? error.hint : undefined;
  return (
    <div className="blank" role="alert">
      <Glyph icon="warn" big />
      <h2>{props.title}</h2>
      <p>
        {visible(error instanceof Error ? error.message : String(error))}{" "}
        {hint !== undefined && visible(hint)} {props.stillWorks}
      </p>
      <div className="row-flex">
        {props.onRetry !== undefined && (
          <Button icon="rerun" onClick={props.onRetry} busy={props.busy === true}>
            Try again
          </Button>
        )}
        <ButtonLink look="plain" icon="doctor" href="/doctor">
          Open Doctor
        </ButtonLink>
      </div>
    </div>
  );
}

/** A line across the page: what has changed around it. */
export function Strip(props: {
  readonly tone: string;
  readonly icon: IconName;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="strip" data-st={props.tone} role="status">
      <Icon name={props.icon} />
      <span>{props.children}</span>
      {props.action}
    </div>
  );
}

/** Data stays; this says how old it is. */
export function OfflineStrip() {
  const state = useStreamState();
  const now = useNow();
  if (state.online || state.lostAt === undefined) return null;
  const wait = Math.max(0, Math.ceil(((state.nextTryAt ?? now) - now) / 1_000));
  return (
    <Strip tone="timeout" icon="s-timeout" action={<Button onClick={() => stream.tryNow()}>Try now</Button>}>
      <b>Reconnecting.</b> What you see is from {clock(state.lostAt)}
      {wait > 0 ? `; next try in ${wait} s.` : "; trying now."}
    </Strip>
  );
}
