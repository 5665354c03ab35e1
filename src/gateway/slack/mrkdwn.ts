/** Markdown as models write it, in Slack's own kind. Code stays as it is, except for the three characters Slack escapes. */
export function slackText(markdown: string): string {
  let isCode = false;
  return markdown
    .split("\n")
    .map((line) => {
      const isFence = /^\s{0,3}(?:`{3,}|~{3,})/.test(line);
      if (isFence) isCode = !isCode;
      if (isFence) return "```";
      return isCode ? escaped(line) : spans(line);
    })
    .join("\n");
}

function spans(line: string): string {
  return line
    .split(/(`[^`]+`)/)
    .map((part) => (part.length > 2 && part.startsWith("`") ? escaped(part) : emphasised(escaped(part))))
    .join("");
}

function emphasised(text: string): string {
  return text
    .replace(/^#{1,6}\s+(.*)$/, "*$1*")
    .replace(/^(\s*)[*-]\s+/, "$1• ")
    .replace(/\[([^\]|]+)\]\((https?:\/\/[^\s)|]+)\)/g, "<$2|$1>")
    .replace(/\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g, "*$1*")
    .replace(/~~(?=\S)([^~]+?)(?<=\S)~~/g, "~$1~");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
