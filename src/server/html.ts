import { visibleLines } from "../base/visible-text.js";
/** Markup that is safe to send. Only the `html` template makes it, and it escapes everything put into it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Insert = Html | string | number | readonly Html[];

export function html(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(inserts[index - 1]) + part));
}

function render(insert: Insert | undefined): string {
  if (insert === undefined) return "";
  if (insert instanceof Html) return insert.text;
  if (typeof insert === "object") return insert.map((each) => each.text).join("");
  return escapeHtml(String(insert));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

export function escapeHtml(text: string): string {
  return visibleLines(text).replace(/[&<>"'`]/g, (sign) => ENTITIES[sign] ?? "");
}
