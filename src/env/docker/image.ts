import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { EngineApi } from "./engine-api.js";
import { engineFailure, isGone } from "./engine-api.js";

interface PullLine {
  readonly status?: string;
  readonly id?: string;
  readonly progress?: string;
  readonly error?: string | undefined;
}

/** Id of the image, which is pulled when the engine does not have it. */
export async function ensureImage(
  api: EngineApi,
  request: { readonly image: string; onProgress?(text: string): void },
): Promise<string> {
  const found = await imageId(api, request.image);
  if (found !== undefined) return found;
  await pull(api, request);
  const pulled = await imageId(api, request.image);
  if (pulled !== undefined) return pulled;
  throw cannotPull(request.image, "the engine pulled it, but does not know it now");
}

async function imageId(api: EngineApi, image: string): Promise<string | undefined> {
  try {
    const { Id } = await api.json<{ readonly Id: string }>({
      path: `/images/${encodeURIComponent(image)}/json`,
    });
    return Id;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw engineFailure(`The image ${image} cannot be looked up`, error);
  }
}

async function pull(
  api: EngineApi,
  request: { readonly image: string; onProgress?(text: string): void },
): Promise<void> {
  const { image, onProgress } = request;
  onProgress?.(`pulling ${image}`);
  try {
    const lines = api.lines<PullLine>({
      method: "POST",
      path: "/images/create",
      query: nameAndTag(image),
      timeoutMs: 10 * 60_000,
    });
    for await (const line of lines) {
      if (line.error !== undefined) throw cannotPull(image, line.error);
      const text = [line.id, line.status, line.progress].filter((part) => part).join(" ");
      if (text !== "") onProgress?.(text);
    }
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    throw cannotPull(image, messageOf(error));
  }
}

/** Without a tag the engine would pull every one there is. */
export function nameAndTag(image: string): { readonly fromImage: string; readonly tag?: string } {
  if (image.includes("@")) return { fromImage: image };
  const [, name = image, tag = "latest"] = /^(.*?)(?::([\w][\w.-]{0,127}))?$/s.exec(image) ?? [];
  return { fromImage: name, tag };
}

function cannotPull(image: string, why: string): ToolError {
  return new ToolError(
    `The image ${image} is not here and cannot be pulled: ${why.replace(/\.?\s*$/, ".")}`,
    {
      code: "unavailable",
      hint: `Check the name and the network, or bring it here first (\`docker pull ${image}\` or \`docker load\`).`,
    },
  );
}
