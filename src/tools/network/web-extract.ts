import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import type { Extracted } from "./extract/extract-url.js";

const MOST_URLS = 5;
const AT_ONCE = 5;

interface ExtractAnswer {
  readonly results: readonly Extracted[];
}

export default defineTool({
  name: "web_extract",
  aliases: ["html_extract"],
  aliasArguments: { web_extract: otherSpellings, html_extract: otherSpellings },
  toolset: "web",
  emoji: "📄",
  description:
    "Read web pages and PDFs as Markdown, up to 5 at once. Long ones are shortened; full_path holds the whole text.",
  parameters: {
    type: "object",
    properties: {
      urls: {
        type: "array",
        items: { type: "string", format: "uri" },
        minItems: 1,
        maxItems: MOST_URLS,
      },
      char_limit: {
        type: "integer",
        minimum: 2_000,
        maximum: 500_000,
        description: "Per page; 15000 unless set",
      },
    },
    required: ["urls"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: ({ urls }) =>
    urls.map((url) => ({ action: "network:fetch" as const, resource: url, mode: "read" as const })),
  idempotent: true,
  timeoutMs: 120_000,

  async handler({ urls, char_limit }, ctx): Promise<ExtractAnswer> {
    const { extractUrl } = await import("./extract/extract-url.js");
    const limit = char_limit ?? configuredLimit(ctx.settings);
    const unique = [...new Set(urls)];
    const results: Extracted[] = new Array(unique.length);
    let next = 0;
    let done = 0;
    const worker = async () => {
      for (let at = next++; at < unique.length; at = next++) {
        const url = unique[at] ?? "";
        results[at] = await extractUrl({ url, limit, ctx });
        done += 1;
        if (unique.length > 1) ctx.progress({ message: `read ${url}`, fraction: done / unique.length });
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, unique.length) }, worker));
    ctx.signal.throwIfAborted();
    return { results };
  },

  untrustedSource: (_args, { results }) => results.map(({ url }) => url).join(" "),

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: out.results
      .map(({ url, title, content, error }) =>
        error === undefined
          ? `${mark.heading(title ?? url)}\n${mark.dim(url)}\n\n${content ?? ""}`
          : `${mark.bad(url)}: ${error}`,
      )
      .join("\n\n"),
  }),

  examples: [
    {
      title: "The text of a page, without its menus",
      pages: {
        "/": `<html><head><title>Bread</title></head><body><nav><a href="/x">Home</a></nav><article><h1>Bread</h1>
<p>Flour, water, salt and time make a loaf that keeps for days. Knead it well, and let it rest overnight in a cool
place.</p><p>Bake it hot, in a covered pot, until the crust is dark.</p></article></body></html>`,
      },
      arguments: { urls: ["{server}/"] },
      result: { results: [{ title: "Bread" }] },
    },
  ],
});

/** One address as `url`, the bound as `max_chars`: both are in use elsewhere. */
function otherSpellings({ url, max_chars, ...args }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(url !== undefined && { urls: [url] }),
    ...(max_chars !== undefined && { char_limit: max_chars }),
    ...args,
  };
}

function configuredLimit(settings: Readonly<Record<string, unknown>>): number {
  const { web } = settings;
  const limit =
    typeof web === "object" && web !== null && "extract_chars" in web ? web.extract_chars : undefined;
  return typeof limit === "number" ? limit : 15_000;
}
