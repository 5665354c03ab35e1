import { useState } from "react";
import { Segmented, Switch } from "../../../ui/controls.js";
import type { Schema } from "./kinds.js";

export interface FieldProps {
  /** Names the input and is read out. */
  readonly id: string;
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
  /** Undefined leaves the argument out. */
  readonly onChange: (value: unknown) => void;
  readonly invalid: boolean;
  readonly required: boolean;
}

function common({ id, invalid, required, schema }: FieldProps) {
  return {
    id,
    className: "in",
    "aria-invalid": invalid || undefined,
    "aria-required": required || undefined,
    "aria-describedby": `${id}-about`,
    autoComplete: "off",
    spellCheck: false,
    ...(schema.default !== undefined &&
      typeof schema.default !== "object" && { placeholder: String(schema.default) }),
  } as const;
}

export function TextField(props: FieldProps & { readonly lines: boolean }) {
  const text = typeof props.value === "string" ? props.value : "";
  const set = (given: string) => props.onChange(given === "" && !props.required ? undefined : given);
  if (!props.lines)
    return (
      <input {...common(props)} type="text" value={text} onChange={(event) => set(event.target.value)} />
    );
  return (
    <textarea
      {...common(props)}
      rows={Math.min(14, Math.max(2, text.split("\n").length + 1))}
      value={text}
      onChange={(event) => set(event.target.value)}
    />
  );
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** What is no number goes to the server as it is, which says so. */
export function NumberField(props: FieldProps) {
  const [text, setText] = useState(props.value === undefined ? "" : String(props.value));
  return (
    <input
      {...common(props)}
      className="in short"
      type="text"
      inputMode="decimal"
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const given = target.value.trim();
        props.onChange(given === "" ? undefined : NUMBER.test(given) ? Number(given) : given);
      }}
    />
  );
}

export function SwitchField(props: FieldProps) {
  const on = props.value === undefined ? props.schema.default === true : props.value === true;
  return <Switch label={props.name} on={on} onChange={props.onChange} />;
}

/** A select has none. */
function withoutPlaceholder<Given extends { readonly placeholder?: string }>({
  placeholder: _gone,
  ...rest
}: Given) {
  return rest;
}

const SHORT_CHARS = 26;

export function ChoiceField(props: FieldProps & { readonly values: readonly unknown[] }) {
  const words = props.values.map(String);
  const chosen = props.value === undefined ? undefined : String(props.value);
  const pick = (word: string) => props.onChange(props.values.find((value) => String(value) === word));
  const isShort = words.length > 1 && words.length <= 4 && words.join("").length <= SHORT_CHARS;
  const usual = props.schema.default === undefined ? "" : String(props.schema.default);
  if (isShort && (props.required || usual !== ""))
    return (
      <Segmented
        label={props.name}
        value={chosen ?? usual}
        options={words.map((value) => ({ value, label: value }))}
        onChange={pick}
      />
    );
  return (
    <select
      {...withoutPlaceholder(common(props))}
      value={chosen ?? ""}
      onChange={(event) => (event.target.value === "" ? props.onChange(undefined) : pick(event.target.value))}
    >
      {(chosen === undefined || !props.required) && (
        <option value="">{usual === "" ? "not set" : `${usual} (usual)`}</option>
      )}
      {words.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  );
}

/** Some of a few. */
export function SetField(props: FieldProps & { readonly values: readonly unknown[] }) {
  const chosen = Array.isArray(props.value) ? props.value : [];
  return (
    <div className="choices" role="group" aria-label={props.name}>
      {props.values.map((value) => {
        const on = chosen.includes(value);
        return (
          <label key={String(value)} className="check">
            <input
              className="box"
              type="checkbox"
              checked={on}
              onChange={() => {
                const next = props.values.filter((one) => (one === value ? !on : chosen.includes(one)));
                props.onChange(next.length === 0 ? undefined : next);
              }}
            />
            <span>{String(value)}</span>
          </label>
        );
      })}
    </div>
  );
}

/** Any value, written as JSON; what is not JSON counts as text. */
export function JsonField(props: FieldProps) {
  const [text, setText] = useState(
    props.value === undefined
      ? ""
      : typeof props.value === "string"
        ? props.value
        : JSON.stringify(props.value, null, 2),
  );
  return (
    <textarea
      {...common(props)}
      rows={Math.min(14, Math.max(2, text.split("\n").length))}
      placeholder="JSON or text"
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        props.onChange(target.value.trim() === "" ? undefined : jsonOrText(target.value));
      }}
    />
  );
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
