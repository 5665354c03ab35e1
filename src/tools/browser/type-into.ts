import { posix } from "node:path";
import type { Locator } from "playwright-core";
import { isAtOrBelow } from "../../base/path.js";
import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { elementOf } from "./element.js";
import type { Tab } from "./tab.js";

/** The library sends files through memory up to this size. */
const MAX_UPLOAD_BYTES = 45 * 1024 * 1024;
const CHOOSING_MS = 3_000;

/** Answers with a line that says what was done. */
export async function typeInto(options: {
  readonly tab: Tab;
  readonly ref: string;
  readonly text: string;
  readonly ctx: CallContext;
}): Promise<string> {
  const { tab, ref, text, ctx } = options;
  const { locator, label } = await elementOf(tab, ref);
  const kind: unknown = await locator.evaluate((element: { tagName: string; type?: string }) => ({
    tag: element.tagName,
    type: element.type,
  }));
  const { tag, type } = isRecord(kind) ? kind : { tag: "", type: "" };
  if (tag === "INPUT" && type === "file") {
    const files = await uploads(text, ctx);
    await locator.setInputFiles([...files]);
    return `chose ${files.map(({ name }) => name).join(", ") || "no file"} for ${label}`;
  }
  if (tag === "SELECT") return chooseOption({ locator, label, text });
  if (tag === "INPUT" && (type === "checkbox" || type === "radio"))
    throw new ToolError(`${label} takes no text.`, {
      code: "invalid_arguments",
      hint: "Switch it with browser_click.",
    });
  await locator.fill(text, { signal: ctx.signal });
  return `typed ${text.length} characters into ${label}`;
}

async function chooseOption({ locator, label, text }: { locator: Locator; label: string; text: string }) {
  const byLabel = await locator.selectOption({ label: text }, { timeout: CHOOSING_MS }).catch(() => []);
  const chosen =
    byLabel.length > 0 ? byLabel : await locator.selectOption(text, { timeout: CHOOSING_MS }).catch(() => []);
  if (chosen.length > 0) return `chose ${JSON.stringify(text)} in ${label}`;
  const names: unknown = await locator.evaluate((element) =>
    [...(element as unknown as { options: Iterable<{ label: string }> }).options]
      .slice(0, 30)
      .map((option) => option.label),
  );
  throw new ToolError(`${label} has no option ${JSON.stringify(text)}.`, {
    code: "invalid_arguments",
    hint: `It has: ${Array.isArray(names) ? names.map((name) => JSON.stringify(name)).join(", ") : "none"}`,
  });
}

/** Files leave only from the workspace, and only those that may be read. */
async function uploads(text: string, ctx: CallContext) {
  const { files } = ctx.environment;
  const workspace = await files.realpath(ctx.session.workspace);
  const paths = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const found = [];
  let left = MAX_UPLOAD_BYTES;
  for (const given of paths) {
    const path = await files.realpath(files.resolve(given, ctx.session.cwd));
    const refused = isAtOrBelow(path, workspace)
      ? ctx.refusal({ action: "file:read", resource: path, mode: "read" })
      : "it is not in the workspace";
    if (refused !== undefined)
      throw new ToolError(`${given} is not uploaded: ${refused}.`, {
        code: "denied",
        hint: "Only files of the workspace that may be read are uploaded.",
      });
    const stat = await files.stat(path);
    if (stat?.type !== "file")
      throw new ToolError(`There is no file ${given}.`, {
        code: "not_found",
        hint: "Name a file of the workspace.",
      });
    left -= stat.size;
    if (left < 0)
      throw new ToolError("More than 45 MB are not uploaded at once.", {
        hint: "Choose smaller or fewer files.",
      });
    found.push({
      name: posix.basename(path),
      mimeType: "application/octet-stream",
      buffer: Buffer.from(await files.read(path, { real: true })),
    });
  }
  return found;
}
