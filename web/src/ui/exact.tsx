import { Fragment } from "react";
import { isUnseen } from "../lib/visible.js";

const PARTS = /((?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800])/u;

/** A text as it is: what cannot be seen is written out and marked. With `every`, blanks and letters beyond ASCII too. */
export function Exact(props: { readonly text: string; readonly every?: boolean }) {
  const parts = props.every === true ? props.text.split(/([^\x21-\x7e])/u) : props.text.split(PARTS);
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
    <Fragment key={index}>{index % 2 === 0 ? part : <Sign sign={part} />}</Fragment>
  ));
}

function Sign({ sign }: { readonly sign: string }) {
  if (sign === " ") return <span className="blank-sign">·</span>;
  if (sign === "\n") return <span className="blank-sign">{"⏎\n"}</span>;
  if (sign === "\t") return <span className="blank-sign">{"→\t"}</span>;
  const written = `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
  return isUnseen(sign) ? <b className="unseen">{written}</b> : <span className="blank-sign">{written}</span>;
}
