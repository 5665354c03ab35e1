import { visible } from "../../lib/visible.js";

/** The words that were looked for stand out. */
export function Marked(props: { readonly text: string; readonly words: string }) {
  const text = visible(props.text);
  const words = props.words.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  if (words.length === 0) return text;
  const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return parts.map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
    index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
  );
}
