/**
 * Markdown as models write it, in the few tags Telegram knows. What is not understood stays as it was written: every
 * character that could open a tag is escaped first, so nothing in a text can become markup that nobody meant.
 */
export function telegramHtml(markdown: string): string {
  const out: string[] = [];
  let code: { readonly fence: string; readonly lines: string[] } | undefined;
  for (const line of markdown.split("\n")) {
    const fence = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (code !== undefined) {
      if (fence?.startsWith(code.fence) && line.trim() === fence) {
        out.push(block(code.lines));
        code = undefined;
      } else code.lines.push(line);
    } else if (fence !== undefined) code = { fence, lines: [] };
    else out.push(inline(line));
  }
  if (code !== undefined) out.push(block(code.lines));
  return out.join("\n");
}

function block(lines: readonly string[]): string {
  return `<pre>${escaped(lines.join("\n"))}</pre>`;
}

function inline(line: string): string {
  const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
  if (heading !== undefined) return `<b>${spans(heading.replaceAll("**", ""))}</b>`;
  return spans(line.replace(/^(\s*)[*-]\s+/, "$1• "));
}

/** Code first: nothing inside it is markup. */
function spans(line: string): string {
  return line
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.length > 2 && part.startsWith("`") && part.endsWith("`")
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : emphasised(escaped(part)),
    )
    .join("");
}

function emphasised(text: string): string {
  return text
    .replace(/\[([^\]]+)\]\((https?:\/\/[^\s)"]+)\)/g, '<a href="$2">$1</a>')
    .replace(/\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g, "<b>$1</b>")
    .replace(/~~(?=\S)([^~]+?)(?<=\S)~~/g, "<s>$1</s>");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
