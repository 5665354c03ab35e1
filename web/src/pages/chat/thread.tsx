import { Fragment, type ReactNode } from "react";
import { visible } from "../../lib/visible.js";
import { Icon } from "../../ui/icon.js";
import { Markdown } from "../../ui/markdown.js";
import { Picture } from "../../ui/picture.js";
import { Status } from "../../ui/status.js";
import { type Item, isOver, type ToolUse } from "./items.js";
import { ToolRows } from "./tool-rows.js";

/** Everything said and done so far. */
export function Thread(props: { readonly items: readonly Item[]; readonly isWriting: boolean }) {
  const last = props.items.at(-1);
  const waits = props.isWriting && (last?.kind === "user" || (last?.kind === "tool" && isOver(last.call)));
  return (
    <>
      {partsOf(props.items).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows at its end
        <Fragment key={index}>{part}</Fragment>
      ))}
      {waits && (
        <p className="thinking" role="status">
          <Status tone="running" word="thinking" />
        </p>
      )}
    </>
  );
}

function partsOf(items: readonly Item[]): readonly ReactNode[] {
  const parts: ReactNode[] = [];
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at];
    if (item === undefined) continue;
    if (item.kind !== "tool") {
      parts.push(<Part item={item} />);
      continue;
    }
    const calls: ToolUse[] = [];
    let next: Item | undefined = item;
    while (next?.kind === "tool") {
      calls.push(next.call);
      next = items[calls.length + at];
    }
    at += calls.length - 1;
    parts.push(<ToolRows calls={calls} />);
  }
  return parts;
}

function Part({ item }: { readonly item: Exclude<Item, { kind: "tool" }> }) {
  switch (item.kind) {
    case "user":
      return (
        <div className="me">
          <span className="hush">You: </span>
          {item.images.map((image, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a picture is its place
            <Picture key={index} {...image} label="Picture you sent" />
          ))}
          {visible(item.text)}
          {item.steered === true && <span className="steered">while it ran</span>}
        </div>
      );
    case "text":
      return <Markdown text={item.text} />;
    case "reasoning":
      return (
        <details className="reasoning">
          <summary>
            <Icon name="right" size="s" /> Thoughts
          </summary>
          <Markdown text={item.text} />
        </details>
      );
    case "notice":
      return (
        <p className="notice">
          <Icon name="info" size="s" /> {visible(item.text)}
        </p>
      );
    default:
      return (
        <div className="trouble" data-st="error" role="alert">
          <Icon name="s-error" />
          <p>
            <b>{visible(item.message)}</b> {item.hint !== undefined && visible(item.hint)}
          </p>
        </div>
      );
  }
}
