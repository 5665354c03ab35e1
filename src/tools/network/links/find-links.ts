import { Parser } from "htmlparser2";

/** Where each element keeps the address it leads to. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  a: "href",
  area: "href",
  audio: "src",
  embed: "src",
  frame: "src",
  iframe: "src",
  img: "src",
  link: "href",
  script: "src",
  source: "src",
  track: "src",
  video: "src",
};
/** Hints for the browser, which lead nowhere by themselves. */
const NO_LINK = /\b(?:preconnect|dns-prefetch)\b/i;

/** Addresses a page leads to, whole, without fragments, each once; what is not of the web is left out. */
export function linksOfPage(html: string, pageUrl: string): readonly string[] {
  const found = new Set<string>();
  let base = pageUrl;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === "base" && attributes.href !== undefined && URL.canParse(attributes.href, pageUrl))
        base = new URL(attributes.href, pageUrl).href;
      const attribute = ATTRIBUTES[name];
      const given = attribute === undefined ? undefined : attributes[attribute];
      if (given === undefined || NO_LINK.test(attributes.rel ?? "")) return;
      const url = webAddress(given, base);
      if (url !== undefined) found.add(url);
    },
  });
  parser.end(html);
  return [...found];
}

/** The absolute web address of a link; undefined for mail, scripts, fragments of the same page and the like. */
export function webAddress(link: string, base: string): string | undefined {
  const trimmed = link.trim();
  if (trimmed === "" || trimmed.startsWith("#") || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  url.hash = "";
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

const FENCE = /^ {0,3}(```+|~~~+)[\s\S]*?^ {0,3}\1`*~*\s*$/gm;
const INLINE = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+["'(][^)]*)?\)/g;
const REFERENCE = /^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+["'(].*)?$/gm;
const BARE = /<(https?:\/\/[^\s<>]+)>/g;

/** Links of a Markdown text as they are written; code is left out. */
export function linksOfMarkdown(markdown: string): readonly string[] {
  const prose = markdown.replace(FENCE, "").replace(/(`+)[^`][\s\S]*?\1/g, "");
  const found = [INLINE, REFERENCE, BARE].flatMap((pattern) =>
    [...prose.matchAll(pattern)].map((match) => match[1] ?? ""),
  );
  return [...new Set(found.filter((link) => link !== ""))];
}
