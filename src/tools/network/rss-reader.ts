import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { FeedItem, ReadFeed } from "./feed/read-feed.js";

const MAX_FEED_BYTES = 20 * 1024 * 1024;

interface FeedAnswer extends Omit<ReadFeed, "items"> {
  readonly url: string;
  readonly items: readonly FeedItem[];
  readonly total_items: number;
  readonly truncated: boolean;
}

export default defineTool({
  name: "rss_reader",
  toolset: "feeds",
  emoji: "📰",
  description:
    "Read an RSS, Atom or JSON feed, newest first. The address of a page works when it names its feed.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", format: "uri" },
      limit: { type: "integer", minimum: 1, maximum: 200, default: 20 },
      include_content: {
        type: "boolean",
        default: false,
        description: "Whole texts, as far as the feed has them",
      },
      since: { type: "string", description: "Only items after this date (ISO)" },
    },
    required: ["url"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: ({ url }) => [{ action: "network:fetch", resource: url, mode: "read" }],
  idempotent: true,
  timeoutMs: 60_000,

  async handler({ url, limit, since, include_content }, ctx): Promise<FeedAnswer> {
    const after = since === undefined ? undefined : Date.parse(since);
    if (after !== undefined && Number.isNaN(after)) {
      throw new ToolError(`${JSON.stringify(since)} is not a date.`, {
        code: "invalid_arguments",
        hint: "Write it like 2026-05-01 or 2026-05-01T12:00:00Z.",
      });
    }
    const { readFeed, feedOfPage } = await import("./feed/read-feed.js");
    const load = async (address: string) => {
      const response = await ctx.fetch({
        url: address,
        headers: {
          accept: "application/rss+xml, application/atom+xml, application/feed+json, */*;q=0.5",
        },
        timeoutMs: 30_000,
        maxBytes: MAX_FEED_BYTES,
      });
      const body = await response.text();
      if (!response.ok) throw failedWith(response.status, address);
      return { body, url: response.url };
    };
    let loaded = await load(url);
    const read = () => readFeed(loaded.body, { base: loaded.url, withContent: include_content });
    let feed = read();
    const named = feed === undefined ? feedOfPage(loaded.body, loaded.url) : undefined;
    if (named !== undefined) {
      ctx.progress({ message: `the page names its feed: ${named}` });
      loaded = await load(named);
      feed = read();
    }
    if (feed === undefined) {
      throw new ToolError(`${loaded.url} is no feed, and the page does not name one.`, {
        hint: "Find the address of the feed on the site (often /feed, /rss.xml or /atom.xml) and ask for that.",
      });
    }
    const wanted = feed.items.filter(
      ({ published }) => after === undefined || (published !== undefined && Date.parse(published) > after),
    );
    return {
      ...feed,
      url: loaded.url,
      items: wanted.slice(0, limit),
      total_items: wanted.length,
      truncated: wanted.length > limit,
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      mark.heading(out.title),
      ...out.items.map(
        ({ title, published, link }) =>
          `${mark.dim((published ?? "").slice(0, 10).padEnd(10))} ${title}\n           ${mark.path(link ?? "")}`,
      ),
      out.truncated ? mark.dim(`${out.items.length} of ${out.total_items} items`) : "",
    ]
      .filter((line) => line !== "")
      .join("\n"),
  }),

  examples: [
    {
      title: "The newest items of a feed",
      pages: {
        "/feed.xml": `<rss version="2.0"><channel><title>News</title><link>https://example.org/</link>
<item><title>Older</title><link>https://example.org/1</link><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate></item>
<item><title>Newer</title><link>https://example.org/2</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate></item>
</channel></rss>`,
      },
      arguments: { url: "{server}/feed.xml", limit: 1 },
      result: { title: "News", total_items: 2, items: [{ title: "Newer", link: "https://example.org/2" }] },
    },
  ],
});

function failedWith(status: number, url: string): ToolError {
  return new ToolError(`${url} answered ${status}.`, {
    hint:
      status === 404 || status === 410
        ? "The feed is not there: check the address."
        : "Try again later, or open the address in the browser to see what the server wants.",
  });
}
