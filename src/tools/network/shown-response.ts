import { sizeText } from "../../base/human.js";
import { mark } from "../../tool/marked-text.js";

const PRETTY_CHARS = 20_000;

/** An answer as a person reads it: how it ended, then what came; JSON with its lines. */
export function shownResponse(out: {
  readonly ok: boolean;
  readonly status: number;
  readonly status_text: string;
  readonly url: string;
  readonly body?: string | undefined;
  readonly body_path?: string | undefined;
  readonly body_bytes?: number | undefined;
  readonly truncated?: boolean | undefined;
}): string {
  const head = (out.ok ? mark.good : mark.bad)(`${out.status} ${out.status_text}`.trim());
  const size = out.body_bytes === undefined ? "" : sizeText(out.body_bytes, "decimal");
  const body =
    out.body_path === undefined ? pretty(out.body ?? "") : `saved to ${mark.path(out.body_path)} (${size})`;
  const cut = out.truncated === true ? mark.dim("there is more than is shown") : "";
  return [`${head} ${mark.dim(out.url)}`, body, cut].filter((line) => line !== "").join("\n");
}

function pretty(body: string): string {
  if (body.length > PRETTY_CHARS || !/^\s*[[{]/.test(body)) return body;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
