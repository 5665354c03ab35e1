import { Icon, type IconName } from "./icon.js";

/** What colour, icon and word may say; everything else is grey. */
export type Tone =
  | "ok"
  | "error"
  | "denied"
  | "asked"
  | "running"
  | "timeout"
  | "cancelled"
  | "unknown"
  | "setup";

const ICONS: Readonly<Record<Tone, IconName>> = {
  ok: "s-ok",
  error: "s-error",
  denied: "s-denied",
  asked: "s-asked",
  running: "s-running",
  timeout: "s-timeout",
  cancelled: "s-cancelled",
  unknown: "s-unknown",
  setup: "warn",
};

/** A call that a rule stopped before it began is denied, whatever the journal calls it. */
export function toneOf(status: string): Tone {
  if (status === "blocked") return "denied";
  return status in ICONS ? (status as Tone) : "unknown";
}

/** Colour, icon and word, always all three; `calm` leaves the word of ok grey, `pill` gives it a ground. */
export function Status(props: {
  readonly tone: Tone;
  readonly word?: string;
  readonly calm?: boolean;
  readonly pill?: boolean;
}) {
  const classes = ["st", props.calm && "calm", props.pill && "pill"].filter(Boolean).join(" ");
  return (
    <span className={classes} data-st={props.tone}>
      <StatusIcon tone={props.tone} />
      <span className="st-word">{props.word ?? (props.tone === "setup" ? "needs set-up" : props.tone)}</span>
    </span>
  );
}

export function StatusIcon({ tone }: { readonly tone: Tone }) {
  return <Icon name={ICONS[tone]} size="s" className={tone === "running" ? "spin" : ""} />;
}
