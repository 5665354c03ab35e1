import { useId, useState } from "react";
import { visible } from "../../../lib/visible.js";
import { Button, IconButton } from "../../../ui/button.js";
import { Segmented } from "../../../ui/controls.js";
import { boundsOf, type Kind, kindOf, type Schema, typeWord, variantOf } from "./kinds.js";
import { useRows } from "./rows.js";
import {
  ChoiceField,
  type FieldProps,
  JsonField,
  jsonOrText,
  NumberField,
  SetField,
  SwitchField,
  TextField,
} from "./simple-fields.js";

/** What the server says is wrong, by JSON pointer. */
export type Wrong = ReadonlyMap<string, string>;

interface Place {
  readonly pointer: string;
  readonly wrong: Wrong;
}

type Record_ = Readonly<Record<string, unknown>>;

/** The fields of an object, in the order of its schema. */
export function ObjectFields(
  props: Place & {
    readonly properties: Readonly<Record<string, Schema>>;
    readonly required: readonly string[];
    readonly value: Record_;
    readonly onChange: (change: (before: Record_) => Record_) => void;
  },
) {
  return (
    <>
      {Object.entries(props.properties).map(([name, schema]) => (
        <LabelledField
          key={name}
          name={name}
          schema={schema}
          required={props.required.includes(name)}
          value={props.value[name]}
          pointer={`${props.pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`}
          wrong={props.wrong}
          onChange={(value) =>
            props.onChange((before) => {
              const { [name]: _gone, ...rest } = before;
              return value === undefined ? rest : { ...rest, [name]: value };
            })
          }
        />
      ))}
    </>
  );
}

function LabelledField(
  props: Place & {
    readonly name: string;
    readonly schema: Schema;
    readonly required: boolean;
    readonly value: unknown;
    readonly onChange: (value: unknown) => void;
  },
) {
  const id = useId();
  const kind = kindOf(props.name, props.schema);
  const error = props.wrong.get(props.pointer);
  const bounds = boundsOf(props.schema);
  const about = [props.schema.description, bounds].filter((part) => part !== undefined && part !== "");
  const hasLabel = !isGroup(kind) && kind.kind !== "switch";
  const label = (
    <div className="lab">
      {hasLabel ? (
        <label htmlFor={id}>{visible(props.name)}</label>
      ) : (
        <span aria-hidden="true">{visible(props.name)}</span>
      )}
      <span className="ty">{typeWord(props.schema)}</span>
      {props.required && <span className="req">required</span>}
    </div>
  );
  const field = (
    <FieldOf
      id={id}
      kind={kind}
      name={props.name}
      schema={props.schema}
      required={props.required}
      value={props.value}
      onChange={props.onChange}
      invalid={error !== undefined}
      pointer={props.pointer}
      wrong={props.wrong}
    />
  );
  const help = (
    <p id={`${id}-about`} className={error === undefined ? "help" : "help bad"}>
      {visible(error ?? about.join(". ").replaceAll("..", "."))}
    </p>
  );
  return (
    <div
      className={kind.kind === "switch" ? "f inline" : "f"}
      {...(isGroup(kind) && {
        role: "group",
        "aria-label": visible(props.name),
        "aria-describedby": `${id}-about`,
      })}
    >
      {label}
      {field}
      {help}
    </div>
  );
}

/** Has no single input that a label could belong to. */
function isGroup(kind: Kind): boolean {
  return ["set", "list", "pairs", "object", "union"].includes(kind.kind);
}

function FieldOf(props: FieldProps & Place & { readonly kind: Kind }) {
  const { kind } = props;
  switch (kind.kind) {
    case "text":
      return <TextField {...props} lines={kind.lines} />;
    case "number":
      return <NumberField {...props} />;
    case "switch":
      return <SwitchField {...props} />;
    case "choice":
      return <ChoiceField {...props} values={kind.values} />;
    case "set":
      return <SetField {...props} values={kind.values} />;
    case "list":
      return <ListField {...props} items={kind.items} />;
    case "pairs":
      return <PairsField {...props} values={kind.values} />;
    case "object":
      return (
        <div className="nested">
          <ObjectFields
            properties={kind.properties}
            required={props.schema.required ?? []}
            value={recordOf(props.value)}
            pointer={props.pointer}
            wrong={props.wrong}
            onChange={(change) => {
              const next = change(recordOf(props.value));
              props.onChange(Object.keys(next).length === 0 && !props.required ? undefined : next);
            }}
          />
        </div>
      );
    case "union":
      return <UnionField {...props} variants={kind.variants} />;
    default:
      return <JsonField {...props} />;
  }
}

function recordOf(value: unknown): Record_ {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record_) : {};
}

function ListField(props: FieldProps & Place & { readonly items: Schema }) {
  const kind = kindOf("", props.items);
  const single = props.name.replace(/s$/, "");
  const { rows, add, remove, set } = useRows<unknown>(
    Array.isArray(props.value) ? props.value : [],
    (values) => props.onChange(values.length === 0 && !props.required ? undefined : values),
  );
  const empty =
    kind.kind === "text" ? "" : kind.kind === "object" ? {} : kind.kind === "switch" ? false : undefined;
  return (
    <div className="several">
      {rows.map(({ id, value }, index) => (
        <div className={kind.kind === "object" ? "item group" : "item"} key={id}>
          <div className="grow">
            <FieldOf
              id={`${props.id}-${id}`}
              kind={kind}
              name={`${single} ${index + 1}`}
              schema={props.items}
              required
              value={value}
              onChange={(given) => set(id, given)}
              invalid={props.wrong.has(`${props.pointer}/${index}`)}
              pointer={`${props.pointer}/${index}`}
              wrong={props.wrong}
            />
            {kind.kind !== "object" && (
              <label className="hush" htmlFor={`${props.id}-${id}`}>
                {`${single} ${index + 1}`}
              </label>
            )}
          </div>
          <IconButton icon="close" label={`Remove ${single} ${index + 1}`} onClick={() => remove(id)} />
        </div>
      ))}
      <Button look="plain" icon="plus" className="add" onClick={() => add(empty)}>
        Add {single}
      </Button>
    </div>
  );
}

/** text → something, as pairs. */
function PairsField(props: FieldProps & Place & { readonly values: Schema }) {
  const isText = kindOf("", props.values).kind === "text";
  const single = props.name.replace(/s$/, "");
  const { rows, add, remove, set } = useRows<readonly [key: string, value: string]>(
    Object.entries(recordOf(props.value)).map(([key, value]) => [
      key,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
    (pairs) => {
      const named = pairs.filter(([key]) => key !== "");
      props.onChange(
        named.length === 0 && !props.required
          ? undefined
          : Object.fromEntries(named.map(([key, value]) => [key, isText ? value : jsonOrText(value)])),
      );
    },
  );
  return (
    <div className="several">
      {rows.map(({ id, value: [key, value] }, index) => (
        <div className="kv" key={id}>
          <input
            className="in"
            aria-label={`${single} ${index + 1}, name`}
            value={key}
            onChange={(event) => set(id, [event.target.value, value])}
          />
          <input
            className="in"
            aria-label={`${single} ${index + 1}, value`}
            value={value}
            onChange={(event) => set(id, [key, event.target.value])}
          />
          <IconButton icon="close" label={`Remove ${single} ${index + 1}`} onClick={() => remove(id)} />
        </div>
      ))}
      <Button look="plain" icon="plus" className="add" onClick={() => add(["", ""])}>
        Add {single}
      </Button>
    </div>
  );
}

function UnionField(props: FieldProps & Place & { readonly variants: readonly Schema[] }) {
  const [at, setAt] = useState(() => variantOf(props.value, props.variants));
  const variant = props.variants[at] ?? {};
  return (
    <div className="several">
      <Segmented
        label="Given as"
        value={String(at)}
        options={props.variants.map((one, index) => ({ value: String(index), label: typeWord(one) }))}
        onChange={(next) => {
          setAt(Number(next));
          props.onChange(undefined);
        }}
      />
      <FieldOf key={at} {...props} kind={kindOf(props.name, variant)} schema={{ ...variant }} />
      <label className="hush" htmlFor={props.id}>
        {props.name}
      </label>
    </div>
  );
}
