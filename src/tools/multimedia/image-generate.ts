import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import { writeMediaFile } from "./media-files.js";

interface GenerateAnswer {
  readonly success: true;
  readonly status: "success";
  /** The same as path. */
  readonly image: string;
  readonly path: string;
  readonly format: string;
  readonly bytes: number;
  readonly provider: string;
  readonly model: string;
  readonly job_id?: string | undefined;
  readonly resumed?: boolean | undefined;
}

/** One grey pixel. */
const SMALL_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

export default defineTool({
  name: "image_generate",
  toolset: "image_gen",
  emoji: "🎨",
  description: "Make a picture from a description; returns the path of the file.",
  parameters: {
    type: "object",
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: 32_000 },
      aspect_ratio: { type: "string", enum: ["landscape", "square", "portrait"], default: "landscape" },
      output: { type: "string" },
    },
    required: ["prompt"],
    additionalProperties: false,
  },
  permissions: ["network:write", "file:write"],
  everyCallNeeds: ["network:write"],
  needs: {
    anyOf: [{ anyEnv: ["OPENAI_API_KEY", "FAL_KEY"] }, { anySetting: ["image_gen.base_url"] }],
    fix: "OPENAI_API_KEY=...",
  },
  effects: ({ prompt, output }, scope): readonly Effect[] => [
    { action: "network:write", resource: `picture: ${prompt}`, mode: "write", reversible: false },
    ...(output === undefined
      ? []
      : [
          {
            action: "file:write" as const,
            resource: absolutePath(output, scope),
            mode: "write" as const,
            reversible: false,
          },
        ]),
  ],
  timeoutMs: 300_000,

  async handler({ prompt, aspect_ratio, output }, ctx): Promise<GenerateAnswer> {
    const { generatePicture } = await import("./generate/generate-picture.js");
    const made = await generatePicture({ prompt, aspect: aspect_ratio, ctx });
    const format = formatOf(made.bytes);
    if (format === undefined) {
      throw new ToolError(`${made.provider} sent something that is no picture.`, {
        hint: "Check image_gen.base_url and image_gen.model.",
      });
    }
    const path =
      output === undefined
        ? await keep(made.bytes, { folder: join(ctx.cacheDir, "images"), format })
        : await writeMediaFile(output, { bytes: made.bytes, ctx });
    return {
      success: true,
      status: "success",
      image: path,
      path,
      format,
      bytes: made.bytes.length,
      provider: made.provider,
      model: made.model,
      ...(made.jobId !== undefined && { job_id: made.jobId }),
      ...(made.resumed === true && { resumed: true }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `made ${mark.path(out.path)}  ${out.format}, ${sizeText(out.bytes, "decimal")} ${mark.dim(`by ${out.provider} ${out.model}`)}`,
  }),

  examples: [
    {
      title: "A picture by a server that speaks the interface of OpenAI",
      settings: { "image_gen.base_url": "{server}/v1" },
      pages: { "/v1/images/generations": `{"data":[{"b64_json":"${SMALL_PNG}"}]}` },
      arguments: {
        prompt: "A lighthouse at dusk, watercolour",
        aspect_ratio: "portrait",
        output: "lighthouse.png",
      },
      result: { success: true, format: "png" },
    },
  ],
});

/** By its first bytes; servers say all kinds of things about what they send. */
function formatOf(bytes: Buffer): "png" | "jpeg" | "webp" | "gif" | undefined {
  if (bytes.subarray(1, 4).toString("latin1") === "PNG") return "png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return "jpeg";
  if (bytes.subarray(8, 12).toString("latin1") === "WEBP") return "webp";
  return bytes.subarray(0, 4).toString("latin1") === "GIF8" ? "gif" : undefined;
}

async function keep(bytes: Buffer, { folder, format }: { folder: string; format: string }): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `image-${randomBytes(8).toString("hex")}.${format === "jpeg" ? "jpg" : format}`);
  await writeFile(path, bytes, { mode: 0o600 });
  return path;
}
