import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { columns, mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import { isWebAddress } from "./media-files.js";
import type { FoundObject } from "./vision/ask-model.js";

interface VisionAnswer {
  readonly success: true;
  readonly status: "success";
  /** What the model said. */
  readonly analysis?: string | undefined;
  /** What is written on the picture (ocr). */
  readonly text?: string | undefined;
  /** How sure the reading is, 0 to 100. */
  readonly confidence?: number | undefined;
  readonly objects?: readonly FoundObject[] | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly model?: string | undefined;
  readonly scale_note?: string | undefined;
}

const SHOWN_ADDRESS_CHARS = 200;
const DEFAULT_QUESTION = "Describe this picture: what it shows, and every text on it word for word.";

export default defineTool({
  name: "vision_analyze",
  aliases: ["image_analyze"],
  aliasArguments: {
    image_analyze: ({ path, ...args }) => (path === undefined ? args : { image_url: path, ...args }),
  },
  toolset: "vision",
  emoji: "👁️",
  description:
    "Look at a picture (path or URL): answer a question about it, list objects, or read its text (ocr, offline).",
  parameters: {
    type: "object",
    properties: {
      image_url: { type: "string", minLength: 1 },
      question: { type: "string" },
      mode: { type: "string", enum: ["describe", "ocr", "objects"], default: "describe" },
    },
    required: ["image_url"],
    additionalProperties: false,
  },
  permissions: ["file:read", "network:fetch", "network:write"],
  needs: { packages: ["sharp", "tesseract.js", "@tesseract.js-data/eng"] },
  idempotent: true,
  effects: ({ image_url, mode }, scope): readonly Effect[] => [
    ...(/^data:/i.test(image_url)
      ? []
      : isWebAddress(image_url)
        ? [{ action: "network:fetch" as const, resource: image_url, mode: "read" as const }]
        : [
            {
              action: "file:read" as const,
              resource: absolutePath(image_url.replace(/^file:\/\//, ""), scope),
              mode: "read" as const,
            },
          ]),
    // Which server that is, only the configuration knows; that the picture goes there, whoever decides must know.
    ...(mode === "ocr"
      ? []
      : [
          {
            action: "network:write" as const,
            resource: `the vision model: ${image_url.slice(0, SHOWN_ADDRESS_CHARS)}`,
            mode: "write" as const,
          },
        ]),
  ],
  timeoutMs: 180_000,

  async handler({ image_url, question, mode }, ctx): Promise<VisionAnswer> {
    const { getPicture } = await import("./vision/get-picture.js");
    const bytes = await getPicture(image_url, ctx);
    if (mode === "ocr") {
      const { PictureReader } = await import("./ocr.js");
      const reader = await PictureReader.open(ctx);
      try {
        return { success: true, status: "success", ...(await reader.read(bytes)) };
      } finally {
        await reader.close();
      }
    }
    const { askAbout, OBJECTS_QUESTION, objectsIn } = await import("./vision/ask-model.js");
    const listing = mode === "objects";
    const look = await askAbout({
      bytes,
      question: listing
        ? [OBJECTS_QUESTION, ...(question === undefined ? [] : [question])].join("\n")
        : (question ?? DEFAULT_QUESTION),
      json: listing,
      ctx,
    });
    const { width, height, factor } = look.picture;
    const found = listing ? objectsIn(look) : undefined;
    return {
      success: true,
      status: "success",
      analysis: found === undefined ? look.answer : found.summary,
      ...(found !== undefined && { objects: found.objects }),
      width,
      height,
      model: look.model,
      ...(factor > 1 &&
        !listing && {
          scale_note: `The model saw it smaller: multiply coordinates in its answer by ${factor.toFixed(2)}.`,
        }),
    };
  },

  untrustedSource: ({ image_url }) => (/^data:/i.test(image_url) ? "a picture" : image_url),

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      out.text ?? out.analysis ?? "",
      ...(out.objects === undefined || out.objects.length === 0
        ? []
        : [
            columns(
              out.objects.map(({ name, confidence, box }) => [
                name,
                mark.dim(confidence === undefined ? "" : `${Math.round(confidence * 100)} %`),
                mark.dim(box === undefined ? "" : `${box.width}×${box.height} at ${box.left},${box.top}`),
              ]),
            ),
          ]),
      ...(out.confidence === undefined ? [] : [mark.dim(`read with ${out.confidence} % confidence`)]),
      ...(out.scale_note === undefined ? [] : [mark.dim(out.scale_note)]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Read the text on a picture, without any model",
      files: {
        "sign.svg":
          '<svg xmlns="http://www.w3.org/2000/svg" width="700" height="160"><rect width="700" height="160" fill="white"/>' +
          '<text x="30" y="100" font-size="56" font-family="sans-serif">Platform 7 at 18:45</text></svg>\n',
      },
      arguments: { image_url: "sign.svg", mode: "ocr" },
      result: { success: true, text: "Platform 7 at 18:45" },
    },
  ],
});
