import { isRecord } from "../../../base/record.js";
import { complete, ModelError } from "../../../model/model-client.js";
import { chatCompletionsClient } from "../../../model/openai-chat.js";
import { ToolError } from "../../../tool/errors.js";
import type { ModelsHost } from "../../../tool/host-capabilities.js";
import type { CallContext } from "../../../tool/tool.js";
import { type ShownPicture, shownPicture } from "./shown-picture.js";

const OPENAI = "https://api.openai.com/v1";
const OPENAI_MODEL = "gpt-4o-mini";
const MAX_ANSWER_TOKENS = 2_000;
/** Tried once more with, after a server found the picture too large. */
const SMALLER_EDGE = 768;
const NO_MODEL_HINT =
  "Set vision.base_url (and vision.model) to a server with a vision model, or OPENAI_API_KEY; mode ocr reads text without one.";

export interface FoundObject {
  readonly name: string;
  readonly confidence?: number | undefined;
  /** In pixels of the picture itself. */
  readonly box?: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
}

export interface ModelLook {
  readonly answer: string;
  readonly picture: ShownPicture;
  readonly model: string;
}

/** Shows a picture to the configured model and asks it something. */
export async function askAbout(request: {
  readonly bytes: Buffer;
  readonly question: string;
  readonly json?: boolean;
  readonly ctx: CallContext;
}): Promise<ModelLook> {
  const { ctx } = request;
  const own = ctx.host.models;
  // The model of the conversation unless another one is named: nobody expects pictures to go to a second vendor.
  if (own !== undefined && !isSet(ctx)) return askOwn(request, own);
  const route = await routeOf(ctx);
  const client = chatCompletionsClient({
    url: route.url,
    model: route.model,
    apiKey: route.key,
    stream: false,
  });
  const ask = async (picture: ShownPicture): Promise<ModelLook> => {
    const { data, mimeType } = picture;
    const answer = await complete(client, {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: request.question },
            { type: "image", data, mimeType },
          ],
        },
      ],
      maxTokens: MAX_ANSWER_TOKENS,
      json: request.json,
      signal: ctx.signal,
    });
    if (answer.usage !== undefined) ctx.reportUsage(answer.usage, answer.model ?? route.model, "vision");
    if (answer.reason === "refusal") throw new ToolError("The model would not look at this picture.");
    return { answer: answer.text.trim(), picture, model: answer.model ?? route.model };
  };
  try {
    return await ask(await shownPicture(request.bytes, { ctx }));
  } catch (error) {
    if (!ModelError.isInstance(error)) throw error;
    if (error.status !== 413) throw told(error, route.url);
    try {
      return await ask(await shownPicture(request.bytes, { ctx, longEdge: SMALLER_EDGE }));
    } catch (again) {
      throw ModelError.isInstance(again) ? told(again, route.url) : again;
    }
  }
}

async function askOwn(
  { bytes, question, json, ctx }: Parameters<typeof askAbout>[0],
  own: ModelsHost,
): Promise<ModelLook> {
  const picture = await shownPicture(bytes, { ctx });
  const answer = await own.ask({
    prompt: question,
    images: [{ data: picture.data, mimeType: picture.mimeType }],
    purpose: "vision",
    maxTokens: MAX_ANSWER_TOKENS,
    json,
    signal: ctx.signal,
  });
  if (answer.usage !== undefined) ctx.reportUsage(answer.usage, answer.model);
  return { answer: answer.text, picture, model: answer.model };
}

function isSet({ settings }: CallContext): boolean {
  const vision = isRecord(settings.vision) ? settings.vision : {};
  return [vision.base_url, vision.model].some((value) => typeof value === "string" && value !== "");
}

function told(error: ModelError, url: string): ToolError {
  const refused = error.status === 401 || error.status === 403;
  const unable = error.status === 400 || error.status === 404 || error.status === 422;
  return new ToolError(`The picture could not be looked at: ${error.message}.`, {
    code: "failed",
    hint: refused
      ? "The key was refused: check OPENAI_API_KEY."
      : unable
        ? "The model may not take pictures: set vision.model to one that does."
        : `Check that the server at ${new URL(url).origin} runs.`,
    cause: error,
  });
}

async function routeOf(ctx: CallContext): Promise<{ url: string; model: string; key: string | undefined }> {
  const vision = isRecord(ctx.settings.vision) ? ctx.settings.vision : {};
  const text = (name: string) => (typeof vision[name] === "string" ? vision[name] : "");
  const key = ctx.secrets.get("OPENAI_API_KEY");
  const url = text("base_url");
  if (url === "") {
    if (key === undefined || key === "") {
      throw new ToolError("No vision model is set up.", { code: "unavailable", hint: NO_MODEL_HINT });
    }
    return { url: OPENAI, model: text("model") || OPENAI_MODEL, key };
  }
  return { url, model: text("model") || (await firstModel({ url, key, ctx })), key };
}

/** A local server mostly serves one model, which nobody should have to name. */
async function firstModel(at: { url: string; key: string | undefined; ctx: CallContext }): Promise<string> {
  const base = at.url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  const response = await at.ctx.fetch({
    url: `${/\/v\d+\w*$/.test(base) ? base : `${base}/v1`}/models`,
    headers: at.key === undefined ? {} : { authorization: `Bearer ${at.key}` },
    timeoutMs: 10_000,
    maxBytes: 1024 * 1024,
    configured: true,
  });
  const body = await response.text();
  try {
    const { data } = JSON.parse(body) as { data?: { id?: unknown }[] };
    const id = data?.[0]?.id;
    if (typeof id === "string") return id;
  } catch {
    // Told below.
  }
  throw new ToolError(`The server at ${base} does not say which models it has.`, {
    code: "unavailable",
    hint: "Set vision.model.",
  });
}

export const OBJECTS_QUESTION = `List what can be seen in this picture. Answer with one JSON object and nothing else:
{"objects": [{"name": "…", "confidence": 0.9, "box": [left, top, width, height]}], "summary": "one sentence"}
The box is in pixels of the picture as you see it.`;

/** What the model listed, with boxes in pixels of the picture itself. */
export function objectsIn({ answer, picture }: ModelLook): {
  readonly objects: readonly FoundObject[];
  readonly summary: string;
} {
  const json = /\{[\s\S]*\}/.exec(answer)?.[0];
  let parsed: unknown;
  try {
    parsed = JSON.parse(json ?? "");
  } catch (cause) {
    throw new ToolError("The model did not list objects as it was asked to.", {
      code: "failed",
      hint: "Use mode describe, or another vision.model.",
      cause,
    });
  }
  const listed = isRecord(parsed) && Array.isArray(parsed.objects) ? parsed.objects : [];
  return {
    objects: listed.filter(isRecord).map((one) => ({
      name: String(one.name ?? ""),
      ...(typeof one.confidence === "number" && { confidence: one.confidence }),
      ...boxOf(one.box, picture),
    })),
    summary: isRecord(parsed) && typeof parsed.summary === "string" ? parsed.summary : "",
  };
}

function boxOf(box: unknown, { factor }: ShownPicture): Pick<FoundObject, "box"> {
  if (!Array.isArray(box) || box.length !== 4 || !box.every((side) => typeof side === "number")) return {};
  const [left = 0, top = 0, width = 0, height = 0] = box.map((side: number) => Math.round(side * factor));
  return { box: { left, top, width, height } };
}
