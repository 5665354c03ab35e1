import type sharpModule from "sharp";
import { messageOf } from "../../../base/errno.js";
import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isWebAddress, readMediaFile } from "../media-files.js";
import { chartConfig, type Theme, textWidth } from "./theme.js";

const MAX_ROWS = 200_000;
const MAX_DATA_BYTES = 20 * 1024 * 1024;
/** Pictures are looked at on screens with two dots for one. */
const DOTS = 2;
const MAX_PICTURE_PIXELS = 60_000_000;

export interface DrawnChart {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Addresses and files that a description takes data from. */
export function dataSources(spec: unknown): readonly string[] {
  if (Array.isArray(spec)) return spec.flatMap(dataSources);
  if (!isRecord(spec)) return [];
  return Object.entries(spec).flatMap(([name, value]) =>
    name === "values" ? [] : name === "url" && typeof value === "string" ? [value] : dataSources(value),
  );
}

/** A few words can ask for a billion rows, which nobody could interrupt. */
function refuseEndless(spec: unknown): void {
  if (Array.isArray(spec)) for (const one of spec) refuseEndless(one);
  if (!isRecord(spec)) return;
  const { sequence, steps, maxbins, values } = spec;
  const from = isRecord(sequence) ? sequence : spec.type === "sequence" ? spec : {};
  const rows = (Number(from.stop ?? 0) - Number(from.start ?? 0)) / Number(from.step ?? 1);
  const most = Math.max(
    ...[rows, steps, maxbins, Array.isArray(values) ? values.length : 0].map((one) => Number(one) || 0),
  );
  if (Math.abs(rows) === Number.POSITIVE_INFINITY || most > MAX_ROWS) {
    throw new ToolError(`The chart asks for more than ${MAX_ROWS} rows.`, {
      code: "invalid_arguments",
      hint: "Sum the data up first.",
    });
  }
  for (const [name, value] of Object.entries(spec)) if (name !== "values") refuseEndless(value);
}

/** Draws a Vega-Lite description, or one of Vega itself. */
export async function drawVega(request: {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly theme: Theme;
  readonly format: "png" | "svg";
  readonly ctx: CallContext;
}): Promise<DrawnChart> {
  const { spec, theme, format, ctx } = request;
  refuseEndless(spec);
  const [vega, { compile }, { expressionInterpreter }] = await Promise.all([
    ctx.load<typeof import("vega")>("vega"),
    ctx.load<typeof import("vega-lite")>("vega-lite"),
    ctx.load<typeof import("vega-interpreter")>("vega-interpreter"),
  ]);
  const metrics: unknown = Reflect.get(vega, "textMetrics");
  if (isRecord(metrics)) metrics.width = widthOfItem;
  const config = chartConfig(theme);
  // The library goes on without what it could not load or work out; half a chart is no chart.
  const problems: unknown[] = [];
  const logger = loggerInto(problems);
  let svg: string;
  try {
    const isVega = String(spec.$schema ?? "").includes("/vega/");
    const full = isVega
      ? { config, ...spec }
      : // Foreign by nature: the library checks it.
        compile(spec as never, { config: config as never, logger }).spec;
    // Expressions of a description are read as data, never turned into code of this process.
    const runtime = vega.parse(full as never, undefined, { ast: true });
    const view = new vega.View(runtime, {
      expr: expressionInterpreter,
      renderer: "none",
      loader: loaderFor(dataSources(spec), { problems, ctx }),
      logger,
    } as never);
    try {
      svg = await view.toSVG();
    } finally {
      view.finalize();
    }
    if (problems.length > 0) throw problems[0];
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    ctx.signal.throwIfAborted();
    throw new ToolError(`The chart could not be drawn: ${messageOf(error)}.`, {
      code: "invalid_arguments",
      hint: "Check the spec against https://vega.github.io/vega-lite/docs/, or use the plain form with type, data, x and y.",
      cause: error,
    });
  }
  ctx.signal.throwIfAborted();
  return format === "svg" ? { bytes: Buffer.from(svg), ...sizeOf(svg) } : asPng(svg, ctx);
}

async function asPng(svg: string, ctx: CallContext): Promise<DrawnChart> {
  const { default: sharp } = await ctx.load<{ default: typeof sharpModule }>("sharp");
  const size = sizeOf(svg);
  const dots = size.width * size.height * DOTS * DOTS > MAX_PICTURE_PIXELS ? 1 : DOTS;
  const { data, info } = await sharp(Buffer.from(svg), {
    density: 72 * dots,
    limitInputPixels: MAX_PICTURE_PIXELS,
  })
    .png({ compressionLevel: 9 })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

function sizeOf(svg: string): { readonly width: number; readonly height: number } {
  const side = (name: string) =>
    Math.round(Number(new RegExp(`<svg[^>]*?\\s${name}="([\\d.]+)`).exec(svg)?.[1] ?? 0));
  return { width: side("width"), height: side("height") };
}

function widthOfItem(item: unknown, text: unknown): number {
  const size = isRecord(item) && typeof item.fontSize === "number" ? item.fontSize : 11;
  return textWidth(text === null || text === undefined ? "" : String(text), size);
}

/** Only what the call has declared is read, and the usual rules for files and addresses hold. */
function loaderFor(
  declared: readonly string[],
  { problems, ctx }: { problems: unknown[]; ctx: CallContext },
) {
  const load = async (uri: string): Promise<string> => {
    try {
      return await loaded(uri);
    } catch (error) {
      problems.push(error);
      throw error;
    }
  };
  const loaded = async (uri: string): Promise<string> => {
    if (!declared.includes(uri))
      throw new ToolError(`The chart asks for ${uri}, which its data does not name.`);
    if (!isWebAddress(uri))
      return (await readMediaFile(uri, { ctx, maxBytes: MAX_DATA_BYTES })).bytes.toString("utf8");
    const response = await ctx.fetch({ url: uri, maxBytes: MAX_DATA_BYTES, timeoutMs: 30_000 });
    if (!response.ok) {
      await response.close();
      throw new ToolError(`${uri} answered ${response.status}.`);
    }
    return response.text();
  };
  const sanitize = async (uri: string) => {
    if (!isWebAddress(uri) && !/^(?:data:image\/|#)/.test(uri))
      throw new Error(`the link ${uri} is not allowed`);
    return { href: uri };
  };
  return { load, sanitize, http: load, file: load, options: {} };
}

function loggerInto(problems: unknown[]) {
  const quiet = () => logger;
  const error = (...told: readonly unknown[]) => {
    problems.push(told.find((one) => one instanceof Error) ?? new Error(told.map(String).join(" ")));
    return logger;
  };
  const logger = { level: quiet, error, warn: quiet, info: quiet, debug: quiet };
  return logger as never;
}
