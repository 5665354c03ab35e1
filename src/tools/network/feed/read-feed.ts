import { parseFeed } from "feedsmith";
import { Parser } from "htmlparser2";
import { isRecord } from "../../../base/record.js";

export interface FeedItem {
  readonly title: string;
  readonly link?: string | undefined;
  /** ISO date. */
  readonly published?: string | undefined;
  readonly author?: string | undefined;
  /** Plain text. */
  readonly summary?: string | undefined;
  /** The whole text, plain, where it was asked for. */
  readonly content?: string | undefined;
  readonly id?: string | undefined;
}

export interface ReadFeed {
  readonly format: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly link?: string | undefined;
  /** Newest first; those without a date keep their order behind. */
  readonly items: readonly FeedItem[];
}

const SUMMARY_CHARS = 500;
const CONTENT_CHARS = 20_000;

/** A feed of any format in one shape; undefined when the text is none. */
export function readFeed(
  body: string,
  { base, withContent = false }: { readonly base: string; readonly withContent?: boolean },
): ReadFeed | undefined {
  let parsed: { readonly format: string; readonly feed: unknown };
  try {
    parsed = parseFeed(body);
  } catch {
    return undefined;
  }
  const feed = isRecord(parsed.feed) ? parsed.feed : {};
  const entries = listOf(feed.items ?? feed.entries);
  const items = entries.map((entry) => ({
    ...itemOf(entry, base),
    ...(withContent && { content: contentOf(entry) }),
  }));
  const time = ({ published }: FeedItem) => (published === undefined ? 0 : Date.parse(published));
  return {
    format: parsed.format,
    title: textOf(feed.title) ?? "(without a title)",
    description: shortened(textOf(feed.description ?? feed.subtitle)),
    link: linkOf(feed, base),
    items: items.toSorted((left, right) => time(right) - time(left)),
  };
}

/** Where a page says that its feed is. */
export function feedOfPage(html: string, base: string): string | undefined {
  let found: string | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      const isFeed = /^(?:application\/(?:rss|atom|feed|rdf)\+(?:xml|json)|application\/json)$/i.test(
        attributes.type ?? "",
      );
      if (name !== "link" || !isFeed || !/\balternate\b/i.test(attributes.rel ?? "")) return;
      const { href } = attributes;
      if (found === undefined && href !== undefined && URL.canParse(href, base))
        found = new URL(href, base).href;
    },
  });
  parser.end(html);
  return found;
}

function itemOf(entry: Readonly<Record<string, unknown>>, base: string): FeedItem {
  const date =
    entry.pubDate ?? entry.published ?? entry.date_published ?? entry.updated ?? dcOf(entry, "date");
  return {
    title: shortened(textOf(entry.title)) ?? "(without a title)",
    link: linkOf(entry, base),
    published: isoDate(date),
    author: authorOf(entry),
    summary: shortened(
      textOf(entry.description ?? entry.summary ?? entry.content_text ?? entry.content ?? entry.content_html),
    ),
    id: textOf(entry.guid ?? entry.id),
  };
}

function contentOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  // RSS keeps the whole text in an element of its own (content:encoded).
  const encoded = isRecord(entry.content) ? entry.content.encoded : undefined;
  const whole = textOf(
    encoded ??
      entry.content ??
      entry.content_text ??
      entry.content_html ??
      entry.description ??
      entry.summary,
  );
  return whole?.slice(0, CONTENT_CHARS);
}

function dcOf(entry: Readonly<Record<string, unknown>>, field: string): unknown {
  return isRecord(entry.dc) ? entry.dc[field] : undefined;
}

function linkOf(entry: Readonly<Record<string, unknown>>, base: string): string | undefined {
  const links = listOf(entry.links);
  const alternate = links.find(({ rel }) => rel === undefined || rel === "alternate") ?? links[0];
  const given = textOf(entry.link ?? entry.url ?? entry.home_page_url ?? alternate?.href);
  return given !== undefined && URL.canParse(given, base) ? new URL(given, base).href : undefined;
}

function authorOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  const people = [...listOf(entry.authors), ...(isRecord(entry.author) ? [entry.author] : [])];
  const named = people.map(({ name, email }) => textOf(name ?? email)).filter((name) => name !== undefined);
  const listed = named.length > 0 ? named.join(", ") : textOf(entry.author ?? dcOf(entry, "creator"));
  return listed ?? (Array.isArray(entry.authors) ? entry.authors.map(String).join(", ") : undefined);
}

function isoDate(given: unknown): string | undefined {
  const date = given instanceof Date ? given : typeof given === "string" ? new Date(given) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Text of a value that may be wrapped (`{ value }`) or marked up, as plain text on one line. */
function textOf(given: unknown): string | undefined {
  const raw = isRecord(given) ? given.value : Array.isArray(given) ? given[0] : given;
  if (typeof raw !== "string" && typeof raw !== "number") return undefined;
  const plain = withoutTags(String(raw)).replace(/\s+/g, " ").trim();
  return plain === "" ? undefined : plain;
}

function withoutTags(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const pieces: string[] = [];
  let hidden = 0;
  const parser = new Parser({
    onopentag: (name) => {
      if (name === "script" || name === "style") hidden += 1;
      pieces.push(" ");
    },
    onclosetag: (name) => {
      if (name === "script" || name === "style") hidden -= 1;
    },
    ontext: (piece) => {
      if (hidden === 0) pieces.push(piece);
    },
  });
  parser.end(html);
  return pieces.join("");
}

function shortened(whole: string | undefined): string | undefined {
  return whole === undefined || whole.length <= SUMMARY_CHARS ? whole : `${whole.slice(0, SUMMARY_CHARS)}…`;
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
