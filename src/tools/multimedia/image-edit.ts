import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import { editPicture, formatOfName, PICTURE_FORMATS, type PictureFormat } from "./edit/edit-picture.js";
import { OPERATION_NAMES } from "./edit/operations.js";
import { nameBeside, writeMediaFile } from "./media-files.js";

interface EditAnswer {
  readonly success: true;
  readonly status: "success";
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly format: string;
  readonly bytes: number;
  readonly original: { readonly width: number; readonly height: number; readonly format: string };
  readonly note?: string | undefined;
}

const pixels = { type: "integer", minimum: 0, maximum: 30_000 } as const;
const side = { type: "integer", minimum: 1, maximum: 30_000 } as const;

export default defineTool({
  name: "image_edit",
  toolset: "multimedia",
  emoji: "🖌️",
  description:
    "Change a picture: operations run in order, the result goes to output (else beside it, as NAME-edited).",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      operations: {
        type: "array",
        minItems: 0,
        maxItems: 50,
        items: {
          type: "object",
          properties: {
            op: { type: "string", enum: OPERATION_NAMES },
            left: pixels,
            top: pixels,
            width: side,
            height: side,
            fit: { type: "string", enum: ["cover", "contain", "fill", "inside", "outside"] },
            angle: { type: "number" },
            amount: {
              type: "number",
              exclusiveMinimum: 0,
              description: "of blur, sharpen, gamma, threshold, pad",
            },
            color: { type: "string", description: "CSS colour" },
            brightness: { type: "number", minimum: 0, maximum: 10 },
            saturation: { type: "number", minimum: 0, maximum: 10 },
            hue: { type: "number" },
            path: { type: "string", description: "picture to overlay" },
          },
          required: ["op"],
          additionalProperties: false,
        },
      },
      output: { type: "string" },
      format: { type: "string", enum: [...PICTURE_FORMATS, "jpg"] },
      quality: { type: "integer", minimum: 1, maximum: 100 },
    },
    required: ["path", "operations"],
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write"],
  needs: { packages: ["sharp"] },
  changesThroughEnvironment: true,
  effects: ({ path, operations, output, format }, scope): readonly Effect[] => [
    ...[path, ...operations.flatMap((one) => one.path ?? [])].map((name) => ({
      action: "file:read" as const,
      resource: absolutePath(name, scope),
      mode: "read" as const,
      // The result says how large it is, not what is on it.
      shown: false,
    })),
    {
      action: "file:write",
      resource: absolutePath(targetOf({ path, output, format }).path, scope),
      mode: "write",
      reversible: false,
    },
  ],
  timeoutMs: 180_000,

  async handler({ path, operations, output, format, quality }, ctx): Promise<EditAnswer> {
    const target = targetOf({ path, output, format });
    for (const [at, one] of operations.entries()) {
      if (one.op === "overlay" && one.path === undefined) {
        throw new ToolError(`Operation ${at + 1} (overlay) needs path, the picture to put on top.`, {
          code: "invalid_arguments",
          hint: 'For example {"op": "overlay", "path": "logo.png", "left": 10, "top": 10}.',
        });
      }
    }
    const made = await editPicture({ path, operations, format: target.format, quality, ctx });
    return {
      success: true,
      status: "success",
      path: await writeMediaFile(target.path, { bytes: made.bytes, ctx }),
      width: made.width,
      height: made.height,
      format: made.format,
      bytes: made.bytes.length,
      original: made.original,
      ...(made.note !== undefined && { note: made.note }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `wrote ${mark.path(out.path)}  ${out.width}×${out.height} ${out.format}, ${sizeText(out.bytes, "decimal")}`,
      mark.dim(`was ${out.original.width}×${out.original.height} ${out.original.format}`),
      ...(out.note === undefined ? [] : [mark.warning(out.note)]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Cut a square out of a drawing and make it a small PNG",
      files: {
        "logo.svg":
          '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="200" fill="#36c"/></svg>\n',
      },
      arguments: {
        path: "logo.svg",
        operations: [
          { op: "crop", left: 100, top: 0, width: 200, height: 200 },
          { op: "resize", width: 64, height: 64 },
        ],
        output: "icon.png",
      },
      result: { success: true, width: 64, height: 64, format: "png" },
    },
  ],
});

/** Where the result goes, and as what, as far as the arguments alone tell. */
function targetOf(args: {
  readonly path: string;
  readonly output?: string | undefined;
  readonly format?: PictureFormat | "jpg" | undefined;
}): { readonly path: string; readonly format: PictureFormat | undefined } {
  const { path, output } = args;
  const format = args.format === "jpg" ? "jpeg" : args.format;
  if (output !== undefined) return { path: output, format: format ?? formatOfName(output) };
  const own = formatOfName(path);
  const chosen = format ?? own ?? "png";
  const extension =
    format === undefined && own !== undefined ? (/\.\w+$/.exec(path)?.[0] ?? "") : `.${chosen}`;
  return {
    path: nameBeside(path, { suffix: "-edited", extension: extension === ".jpeg" ? ".jpg" : extension }),
    format: chosen,
  };
}
