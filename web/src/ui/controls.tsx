import { type InputHTMLAttributes, type ReactNode, type Ref, useEffect, useId, useRef } from "react";
import { Icon, type IconName } from "./icon.js";

/** Up to four choices, one of them taken; more want a select. */
export function Segmented<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly disabledBecause?: string;
  }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <div className="seg" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === props.value}
          aria-disabled={option.disabledBecause !== undefined || undefined}
          title={option.disabledBecause}
          onClick={() => option.disabledBecause === undefined && props.onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

export function Select<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <select
      className="select"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value as Value)}
    >
      {props.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

export function Switch(props: {
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
  readonly busy?: boolean;
  readonly disabledBecause?: string | undefined;
}) {
  const off = props.disabledBecause !== undefined || props.busy === true;
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-label={props.label}
      aria-checked={props.on}
      aria-disabled={off || undefined}
      aria-busy={props.busy || undefined}
      title={props.disabledBecause}
      onClick={() => !off && props.onChange(!props.on)}
    />
  );
}

export function Checkbox(props: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    <label className="check">
      <input
        className="box"
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <span>{props.children}</span>
    </label>
  );
}

/** A labelled input with its description and its error below. */
export function Field(
  props: InputHTMLAttributes<HTMLInputElement> & {
    readonly label: string;
    readonly description?: ReactNode;
    readonly error?: string | undefined;
    readonly type?: string;
  },
) {
  const { label, description, error, ...rest } = props;
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        id={id}
        className="in"
        aria-invalid={error !== undefined || undefined}
        aria-describedby={`${id}-about`}
      />
      <p id={`${id}-about`} className={error === undefined ? "about" : "about bad"}>
        {error ?? description}
      </p>
    </div>
  );
}

/** Search field with the filters that are set, as tokens in front. `/` focuses the first one on a page. */
export function FilterField(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly tokens?: readonly { readonly key: string; readonly text: string; readonly onRemove: () => void }[];
  readonly inputRef?: Ref<HTMLInputElement>;
}) {
  return (
    <div className="field grow">
      <Icon name="search" />
      {props.tokens?.map((token) => (
        <button
          key={token.key}
          type="button"
          className="token"
          onClick={token.onRemove}
          aria-label={`Remove filter ${token.text}`}
        >
          {token.text}
          <Icon name="close" />
        </button>
      ))}
      <input
        ref={props.inputRef}
        data-filter=""
        type="search"
        aria-label={props.label}
        placeholder={props.placeholder}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Backspace" && props.value === "") props.tokens?.at(-1)?.onRemove();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}

/** Filter by one thing, with how many there are of each. */
export function FilterTabs<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly count?: number | undefined;
    readonly icon?: IconName;
    readonly tone?: string;
  }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <div className="tabs" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          data-st={option.tone}
          aria-pressed={option.value === props.value}
          onClick={() => props.onChange(option.value)}
        >
          {option.icon !== undefined && <Icon name={option.icon} />}
          {option.label}
          {option.count !== undefined && <span>{option.count.toLocaleString("en")}</span>}
        </button>
      ))}
    </div>
  );
}

/** The tabs below the head of a thing. */
export function Tabs<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly count?: number | undefined;
  }[];
  readonly onChange: (value: Value) => void;
}) {
  const move = (step: number) => {
    const at = props.options.findIndex(({ value }) => value === props.value);
    const next = props.options[(at + step + props.options.length) % props.options.length];
    if (next !== undefined) props.onChange(next.value);
  };
  // On a narrow screen the last ones lie outside, also the one somebody was sent to.
  const list = useRef<HTMLDivElement>(null);
  const { value } = props;
  useEffect(() => {
    const tab = list.current?.querySelector(`[data-value="${CSS.escape(value)}"]`);
    tab?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [value]);
  return (
    <div ref={list} className="under" role="tablist" aria-label={props.label}>
      {props.options.map((option) => {
        const selected = option.value === props.value;
        return (
          <button
            key={option.value}
            type="button"
            role="tab"
            data-value={option.value}
            aria-selected={selected}
            tabIndex={selected ? 0 : -1}
            onClick={() => props.onChange(option.value)}
            onKeyDown={(event) => {
              if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
              move(event.key === "ArrowRight" ? 1 : -1);
              const tabs = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>("[role=tab]");
              requestAnimationFrame(() => [...(tabs ?? [])].find((tab) => tab.tabIndex === 0)?.focus());
            }}
          >
            {option.label}
            {option.count !== undefined && (
              <span className="quiet"> {option.count.toLocaleString("en")}</span>
            )}
          </button>
        );
      })}
    </div>
  );
}
