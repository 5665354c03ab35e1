import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { absolutePath } from "../files/paths.js";
import type { LinkState } from "./links/check-links.js";

const SHOWN_BROKEN = 200;

interface LinkReport {
  readonly passed: boolean;
  readonly checked: number;
  readonly broken: readonly Omit<LinkState, "ok">[];
  readonly broken_count: number;
  /** Pages or files whose links were followed. */
  readonly from: string;
  /** Links beyond max_links, which nobody looked at. */
  readonly left_out: number;
  readonly duration_ms: number;
}

export default defineTool({
  name: "link_checker",
  toolset: "links",
  emoji: "🔗",
  description:
    "Find dead links: of a page (url), a whole site (url, recurse), a list (urls), or a Markdown file or folder (path).",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", format: "uri" },
      urls: { type: "array", items: { type: "string", format: "uri" }, maxItems: 1000 },
      path: { type: "string" },
      recurse: { type: "boolean", default: false, description: "Follow pages below url" },
      concurrency: { type: "integer", minimum: 1, maximum: 50, default: 20 },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 120, default: 15 },
      max_links: { type: "integer", minimum: 1, maximum: 50_000, default: 5_000 },
    },
    additionalProperties: false,
  },
  permissions: ["network:fetch", "file:read"],
  effects: ({ url, urls = [], path }, scope): readonly Effect[] => [
    ...[...(url === undefined ? [] : [url]), ...urls].map((resource) => ({
      action: "network:fetch" as const,
      resource,
      mode: "read" as const,
    })),
    ...(path === undefined
      ? []
      : [{ action: "file:read" as const, resource: absolutePath(path, scope), mode: "read" as const }]),
  ],
  timeoutMs: 900_000,

  async handler(args, ctx): Promise<LinkReport> {
    const { url, urls = [], path, recurse, concurrency, timeout_seconds, max_links } = args;
    if ([url, path, urls.length > 0 ? urls : undefined].filter((one) => one !== undefined).length !== 1) {
      throw new ToolError("Say where the links are: exactly one of url, urls and path.", {
        code: "invalid_arguments",
        hint: 'For example {"url": "https://example.org/", "recurse": true} or {"path": "docs"}.',
      });
    }
    const { LinkCheck } = await import("./links/check-links.js");
    const started = performance.now();
    const crawl = url !== undefined && recurse ? new URL(".", url).href : undefined;
    const check = new LinkCheck({
      concurrency,
      timeoutMs: timeout_seconds * 1000,
      maxLinks: max_links,
      crawl,
      ctx,
    });
    const here = path === undefined ? undefined : await linksHere(path, ctx);
    if (url !== undefined) check.add(new URL(url).href, { read: true });
    for (const one of urls) check.add(one);
    for (const { url: found, parent } of here?.web ?? []) check.add(found, { parent });
    await check.run();
    const broken = [
      ...(here?.broken ?? []).map((one) => ({ ...one, status: 0 })),
      ...check.states.filter(({ ok }) => !ok).map(({ ok: _ok, ...state }) => state),
    ];
    return {
      passed: broken.length === 0,
      checked: check.states.length + (here?.checked ?? 0),
      broken: broken.slice(0, SHOWN_BROKEN),
      broken_count: broken.length,
      from: url ?? path ?? `${urls.length} addresses`,
      left_out: check.leftOut,
      duration_ms: Math.round(performance.now() - started),
    };
  },

  untrustedSource: (_args, { from }) => from,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      ...(out.broken.length === 0
        ? []
        : [
            columns(
              out.broken.map(({ url, status, reason, parent }) => [
                mark.bad(status === 0 ? "✗" : String(status)),
                url,
                mark.dim(reason ?? ""),
                mark.dim(parent === undefined ? "" : `in ${parent}`),
              ]),
            ),
          ]),
      `${out.passed ? mark.good("all fine") : mark.bad(`${out.broken_count} broken`)}, ${out.checked} links checked` +
        (out.left_out > 0 ? `, ${out.left_out} left out` : ""),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Links of Markdown files",
      files: { "docs/a.md": "[good](b.md) and [gone](c.md)", "docs/b.md": "# B" },
      arguments: { path: "docs" },
      result: { passed: false, checked: 2, broken: [{ url: "c.md", reason: "there is no such file" }] },
    },
    {
      title: "A page and everything it leads to",
      pages: { "/": '<a href="/a">a</a> <a href="/missing">b</a>', "/a": "fine" },
      arguments: { urls: ["{server}/a", "{server}/missing"] },
      result: { passed: false, checked: 2, broken: [{ status: 404 }] },
    },
  ],
});

async function linksHere(path: string, ctx: CallContext) {
  const { documentLinks } = await import("./links/document-links.js");
  const folder = ctx.environment.files.resolve(path, ctx.session.cwd);
  if ((await ctx.environment.files.stat(folder)) === undefined)
    throw new ToolError(`There is no ${path}.`, { code: "not_found", hint: "Check the path." });
  return documentLinks(folder, ctx);
}
