import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolResult } from "../../tool/result.js";
import { absolutePath } from "../files/paths.js";
import { looksAtPage } from "./page-effects.js";

interface ScreenshotAnswer {
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly url: string;
  /** The page goes on below what a picture can hold. */
  readonly truncated: boolean;
}

export default defineTool({
  name: "browser_screenshot",
  toolset: "browser",
  emoji: "📸",
  description: "Picture of the open page, or of one element by its ref; written to a file and shown.",
  parameters: {
    type: "object",
    properties: {
      full_page: { type: "boolean", default: false },
      ref: { type: "string", description: "e5 or @e5" },
      path: { type: "string", description: "Where to write it; a cache folder unless set" },
      format: { type: "string", enum: ["png", "jpeg"], default: "png" },
    },
    additionalProperties: false,
  },
  permissions: ["network:fetch", "file:write"],
  effects: ({ path }, scope): readonly Effect[] => [
    looksAtPage(scope),
    ...(path === undefined
      ? []
      : [{ action: "file:write" as const, resource: absolutePath(path, scope), mode: "write" as const }]),
  ],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  async handler({ full_page, ref, path, format }, ctx): Promise<ToolResult<ScreenshotAnswer>> {
    const [{ BrowserSession }, { elementOf }, { takePicture }, { writePicture }] = await Promise.all([
      import("./session.js"),
      import("./element.js"),
      import("./pictures.js"),
      import("./picture-file.js"),
    ]);
    return ctx.keep(BrowserSession).use(ctx, {}, async (tab) => {
      const element = ref === undefined ? undefined : (await elementOf(tab, ref)).locator;
      const picture = await takePicture({ tab, ctx, fullPage: full_page, element, format });
      const output = {
        path: await writePicture(picture, { path, ctx }),
        width: picture.width,
        height: picture.height,
        bytes: picture.bytes.length,
        url: tab.page.url(),
        truncated: picture.cut,
      };
      return new ToolResult({
        success: true,
        output,
        content: [text(JSON.stringify(output)), { type: "image", ...picture.small }],
      });
    });
  },

  untrustedSource: (_args, out) => (out instanceof ToolResult ? undefined : out.url),

  examples: [
    {
      title: "A picture of the page in a file",
      pages: { "/": "<h1>Hello</h1>" },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { path: "hello.png" },
      result: { width: 1280, height: 800 },
      programs: ["chromium"],
    },
  ],
});
