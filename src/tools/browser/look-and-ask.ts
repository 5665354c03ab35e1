import type { CallContext } from "../../tool/tool.js";
import { askAbout } from "../multimedia/vision/ask-model.js";
import { look } from "./action.js";
import type { VisionAnswer } from "./browser-vision.js";
import { inPage } from "./in-page.js";
import { writePicture } from "./picture-file.js";
import { takePicture } from "./pictures.js";
import { DRAW_LABELS } from "./scripts.gen.js";
import { BrowserSession } from "./session.js";
import type { Tab } from "./tab.js";

const MOST_LABELS = 150;
const BOX_MS = 2_000;

/** A picture of the open page, kept in a file, and what the vision model says about it. */
export async function lookAndAsk(options: {
  readonly question: string;
  readonly annotate: boolean;
  readonly ctx: CallContext;
}): Promise<VisionAnswer> {
  const { question, annotate, ctx } = options;
  const { picture, url } = await ctx.keep(BrowserSession).use(ctx, {}, async (tab) => {
    const erase = annotate ? await drawLabels(tab, ctx) : undefined;
    return { picture: await takePicture({ tab, ctx }).finally(erase), url: tab.page.url() };
  });
  const screenshot_path = await writePicture(picture, { ctx });
  const { answer, model } = await askAbout({
    bytes: picture.bytes,
    question: annotate ? `${question}\n\n${LABELS_EXPLAINED}` : question,
    ctx,
  });
  return { analysis: answer, screenshot_path, model, url };
}

const LABELS_EXPLAINED =
  "What can be clicked or typed into has a red frame with its name (e5) on it: name elements by that.";

/** Beside everything in sight that can be used. Answers with what takes the labels away again. */
async function drawLabels(tab: Tab, ctx: CallContext): Promise<() => Promise<void>> {
  const { lines } = await look(tab, ctx);
  tab.shown = lines;
  const usable = lines.flatMap(({ usable, ref }) => (usable && ref !== undefined ? [ref] : []));
  const { width, height } = tab.page.viewportSize() ?? { width: 1280, height: 800 };
  const boxes = await Promise.all(
    usable.slice(0, MOST_LABELS).map(async (ref) => {
      const element = tab.page.locator(`aria-ref=${tab.refs.nameOf(ref)}`);
      // Of the whole page's picture, also where it is in a frame.
      const box = await element.boundingBox({ timeout: BOX_MS }).catch(() => null);
      return box === null ? undefined : { ref, ...box };
    }),
  );
  const labels = boxes.filter(
    (box) =>
      box !== undefined && box.x < width && box.y < height && box.x + box.width > 0 && box.y + box.height > 0,
  );
  const layer = await tab.page.evaluateHandle<{ remove(): void }>(inPage(DRAW_LABELS, labels));
  return async () => {
    await layer.evaluate((drawn) => drawn.remove()).catch(() => undefined);
    await layer.dispose().catch(() => undefined);
  };
}
