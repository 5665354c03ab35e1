import { type ReactNode, useState } from "react";
import { age, wholeTime } from "../lib/format.js";
import { useNow } from "../lib/now.js";
import { visibleLine } from "../lib/visible.js";
import { Button } from "./button.js";
import { Icon, type IconName } from "./icon.js";

export function Chip(props: {
  readonly children: ReactNode;
  readonly mono?: boolean;
  readonly icon?: IconName;
  readonly title?: string;
}) {
  return (
    <span className={props.mono === true ? "chip mono" : "chip"} title={props.title}>
      {props.icon !== undefined && <Icon name={props.icon} size="s" />}
      {props.children}
    </span>
  );
}

/** `call`: somebody is waited for. */
export function Count(props: { readonly value: number; readonly call?: boolean; readonly meaning?: string }) {
  return (
    <b className={props.call === true ? "count call" : "count"}>
      {props.value}
      {props.meaning !== undefined && <span className="hush"> {props.meaning}</span>}
    </b>
  );
}

/** An icon, or the first letter of a name, on a small ground. */
export function Glyph(props: { readonly icon?: IconName; readonly name?: string; readonly big?: boolean }) {
  return (
    <span className={props.big === true ? "glyph big" : "glyph"} aria-hidden="true">
      {props.icon !== undefined ? <Icon name={props.icon} /> : (props.name ?? "?").slice(0, 1).toUpperCase()}
    </span>
  );
}

export function Card(props: {
  readonly title?: string;
  readonly end?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <section className={`card ${props.className ?? ""}`} aria-label={props.title}>
      {props.title !== undefined && (
        <header>
          <h2>{props.title}</h2>
          {props.end !== undefined && <span className="end">{props.end}</span>}
        </header>
      )}
      {props.children}
    </section>
  );
}

/** How long ago, with the whole time on hover. */
export function Ago({ at }: { readonly at: number }) {
  return (
    <time dateTime={isoTime(at)} title={wholeTime(at)}>
      {age(at, useNow())}
    </time>
  );
}

function isoTime(at: number): string | undefined {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Text from outside on one line, cut at the end. */
export function Cut(props: { readonly text: string; readonly className?: string; readonly mono?: boolean }) {
  const text = visibleLine(props.text);
  const classes = `cut ${props.className ?? ""}`;
  return props.mono === true ? (
    <code className={classes} title={text}>
      {text}
    </code>
  ) : (
    <span className={classes} title={text}>
      {text}
    </span>
  );
}

export function Code(props: {
  readonly children: ReactNode;
  readonly wrap?: boolean;
  readonly label?: string;
}) {
  return (
    <pre
      className={props.wrap === true ? "code wrap" : "code"}
      tabIndex={0}
      role="group"
      aria-label={props.label ?? "Text"}
    >
      {props.children}
    </pre>
  );
}

export function CopyButton(props: {
  readonly text: string;
  readonly label?: string;
  readonly keys?: string;
  readonly look?: "bordered" | "plain";
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(props.text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button
      look={props.look ?? "bordered"}
      icon={copied ? "check" : "copy"}
      onClick={() => void copy()}
      {...(props.keys !== undefined && { keys: props.keys })}
    >
      {copied ? "Copied" : (props.label ?? "Copy")}
    </Button>
  );
}

/** A share of a whole. */
export function Meter(props: {
  readonly label: string;
  readonly value: number;
  readonly of: number;
  readonly tone?: string;
}) {
  const share = props.of <= 0 ? 0 : Math.min(1, Math.max(0, props.value / props.of));
  return (
    <svg
      className="meter"
      data-st={props.tone}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${props.label}: ${Math.round(share * 100)} %`}
    >
      <rect className="track" width="100" height="4" />
      <rect className="part" width={share * 100} height="4" />
    </svg>
  );
}

/** The time left of a question. `share` is what is left of the whole. */
export function Ring(props: {
  readonly share: number;
  readonly text: string;
  readonly big?: boolean;
  readonly soon?: boolean;
}) {
  const size = props.big === true ? 44 : 34;
  const radius = size / 2 - 2;
  const round = 2 * Math.PI * radius;
  return (
    <span
      className={props.big === true ? "ring big" : "ring"}
      data-st={props.soon === true ? "asked" : undefined}
      role="timer"
      aria-label={`${props.text} left`}
    >
      <svg viewBox={`0 0 ${size} ${size}`} aria-hidden="true">
        <circle cx={size / 2} cy={size / 2} r={radius} />
        <circle
          cx={size / 2}
          cy={size / 2}
          r={radius}
          strokeDasharray={`${Math.max(0, Math.min(1, props.share)) * round} ${round}`}
        />
      </svg>
      <span className={props.text.length > 3 ? "long" : undefined} aria-hidden="true">
        {props.text}
      </span>
    </span>
  );
}

export function Sparkline(props: {
  readonly values: readonly number[];
  readonly label: string;
  readonly bad?: boolean;
}) {
  const top = Math.max(1, ...props.values);
  const step = props.values.length < 2 ? 0 : 84 / (props.values.length - 1);
  const path = props.values
    .map(
      (value, index) =>
        `${index === 0 ? "M" : "L"}${(index * step).toFixed(1)} ${(18 - (value / top) * 16).toFixed(1)}`,
    )
    .join("");
  return (
    <svg className="spark" viewBox="0 0 84 20" preserveAspectRatio="none" role="img" aria-label={props.label}>
      <path className={props.bad === true ? "bad" : ""} d={path} />
    </svg>
  );
}
