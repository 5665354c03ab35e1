import { Fragment, type ReactNode } from "react";
import { visible } from "../lib/visible.js";
import { Code } from "./bits.js";

const MOST_ITEMS = 500;

/** JSON with its keys, texts and numbers told apart; long texts keep their line breaks. */
export function JsonView(props: { readonly value: unknown; readonly label?: string }) {
  return (
    <Code wrap label={props.label ?? "JSON"}>
      {render(props.value, 0)}
    </Code>
  );
}

function render(value: unknown, depth: number): ReactNode {
  if (typeof value === "string")
    return <span className="s">{visible(JSON.stringify(value).replaceAll("\\n", "\n"))}</span>;
  if (typeof value === "number" || typeof value === "boolean")
    return <span className="n">{String(value)}</span>;
  if (value === null || value === undefined) return <span className="d">null</span>;
  const isArray = Array.isArray(value);
  const all = isArray
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value as object);
  if (all.length === 0) return isArray ? "[]" : "{}";
  const indent = "  ".repeat(depth + 1);
  const shown = all.slice(0, MOST_ITEMS);
  return (
    <>
      {isArray ? "[" : "{"}
      {shown.map(([key, item], index) => (
        <Fragment key={key}>
          {`\n${indent}`}
          {!isArray && (
            <>
              <span className="k">{visible(JSON.stringify(key))}</span>:{" "}
            </>
          )}
          {render(item, depth + 1)}
          {index < all.length - 1 && ","}
        </Fragment>
      ))}
      {all.length > shown.length && (
        <span className="d">{`\n${indent}… ${all.length - shown.length} more`}</span>
      )}
      {`\n${"  ".repeat(depth)}`}
      {isArray ? "]" : "}"}
    </>
  );
}
