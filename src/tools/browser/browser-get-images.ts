import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { columns } from "../../tool/marked-text.js";
import { looksAtPage } from "./page-effects.js";

const MOST_IMAGES = 100;
const ALT_CHARS = 200;

interface PageImage {
  readonly src: string;
  readonly alt: string;
  readonly width: number;
  readonly height: number;
}

interface ImagesAnswer {
  readonly url: string;
  readonly images: readonly PageImage[];
  readonly total: number;
  readonly truncated: boolean;
}

export default defineTool({
  name: "browser_get_images",
  toolset: "browser",
  emoji: "🖼️",
  description: "Pictures of the open page with address, description and size, largest first.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["network:fetch"],
  effects: (_args, scope) => [looksAtPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 60_000,

  async handler(_args, ctx): Promise<ImagesAnswer> {
    const [{ BrowserSession }, { LIST_IMAGES }, { inPage }] = await Promise.all([
      import("./session.js"),
      import("./scripts.gen.js"),
      import("./in-page.js"),
    ]);
    return ctx.keep(BrowserSession).use(ctx, {}, async ({ page }) => {
      const found: unknown = await page.evaluate(
        inPage(LIST_IMAGES, { most: MOST_IMAGES, chars: ALT_CHARS }),
      );
      const images = isRecord(found) && Array.isArray(found.images) ? found.images.filter(isImage) : [];
      const total = isRecord(found) && typeof found.total === "number" ? found.total : images.length;
      return { url: page.url(), images, total, truncated: total > images.length };
    });
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: columns(out.images.map(({ src, alt, width, height }) => [`${width}×${height}`, alt, src])),
  }),

  examples: [
    {
      title: "Which pictures a page shows",
      pages: {
        "/": `<img alt="A dot" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>">`,
      },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: {},
      result: { total: 1, images: [{ alt: "A dot", width: 8, height: 8 }] },
      programs: ["chromium"],
    },
  ],
});

/** The page can make of its objects what it likes. */
function isImage(value: unknown): value is PageImage {
  return isRecord(value) && typeof value.src === "string" && typeof value.alt === "string";
}
