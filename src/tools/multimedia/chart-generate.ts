import { sizeText } from "../../base/human.js";
import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { absolutePath } from "../files/paths.js";
import { PLAIN_TYPES, type PlainType, plainChart } from "./chart/plain-chart.js";
import { type DrawnChart, dataSources, drawVega } from "./chart/render-vega.js";
import { isWebAddress, readMediaFile, writeMediaFile } from "./media-files.js";

interface ChartAnswer {
  readonly success: true;
  readonly status: "success";
  readonly path: string;
  readonly format: "png" | "svg";
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly note?: string | undefined;
  /** The same in letters, where that is possible; for people. */
  readonly sketch?: string | undefined;
}

const MAX_DATA_BYTES = 20 * 1024 * 1024;

export default defineTool({
  name: "chart_generate",
  toolset: "multimedia",
  emoji: "📈",
  description:
    "Draw a chart as PNG or SVG: type, data (rows, or a CSV/JSON file) and columns x and y; or type vega-lite with spec; " +
    "or type mermaid with code.",
  parameters: {
    type: "object",
    properties: {
      type: { type: "string", enum: [...PLAIN_TYPES, "vega-lite", "mermaid"] },
      data: { type: ["array", "object", "string"] },
      x: { type: "string" },
      y: { type: ["string", "array"], items: { type: "string" }, description: "Several columns make series" },
      series: { type: "string", description: "Column that names the series (heatmap: its value)" },
      stacked: { type: "boolean" },
      title: { type: "string" },
      spec: { type: ["object", "string"] },
      code: { type: "string" },
      output: { type: "string" },
      format: { type: "string", enum: ["png", "svg"] },
      width: { type: "integer", minimum: 100, maximum: 4_000 },
      height: { type: "integer", minimum: 100, maximum: 4_000 },
      theme: { type: "string", enum: ["light", "dark"], default: "light" },
    },
    required: ["type"],
    additionalProperties: false,
  },
  permissions: ["file:write", "file:read", "network:fetch"],
  everyCallNeeds: ["file:write"],
  needs: { packages: ["vega", "vega-lite", "vega-interpreter", "sharp"] },
  effects: (args, scope): readonly Effect[] => [
    ...sourcesOf(args).map((source) =>
      isWebAddress(source)
        ? { action: "network:fetch" as const, resource: source, mode: "read" as const }
        : { action: "file:read" as const, resource: absolutePath(source, scope), mode: "read" as const },
    ),
    {
      action: "file:write",
      resource: absolutePath(targetOf(args).path, scope),
      mode: "write",
      reversible: false,
    },
  ],
  timeoutMs: 120_000,

  async handler(args, ctx): Promise<ChartAnswer> {
    const { path, format } = targetOf(args);
    const { drawn, note, sketch } = await draw(args, { format, ctx });
    return {
      success: true,
      status: "success",
      path: await writeMediaFile(path, { bytes: drawn.bytes, ctx }),
      format,
      width: drawn.width,
      height: drawn.height,
      bytes: drawn.bytes.length,
      ...(note !== undefined && { note }),
      ...(sketch !== undefined && { sketch }),
    };
  },

  // The model knows the numbers.
  present: ({ sketch, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [
      ...(sketch === undefined ? [] : [sketch.replace(/█+/g, mark.good), ""]),
      `wrote ${mark.path(out.path)}  ${out.width}×${out.height} ${out.format}, ${sizeText(out.bytes, "decimal")}`,
      ...(out.note === undefined ? [] : [mark.warning(out.note)]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Bars from rows",
      arguments: {
        type: "bar",
        data: [
          { month: "Jan", sales: 120 },
          { month: "Feb", sales: 95 },
          { month: "Mar", sales: 160 },
        ],
        x: "month",
        y: "sales",
        title: "Sales by month",
        output: "sales.svg",
      },
      result: { success: true, format: "svg", width: 760, height: 440 },
    },
    {
      title: "Lines from a CSV file",
      files: { "speed.csv": "day,node,deno\n2026-01-01,3.1,2.9\n2026-01-02,3.4,2.7\n2026-01-03,2.8,2.8\n" },
      arguments: { type: "line", data: "speed.csv", x: "day", y: ["node", "deno"], output: "speed.png" },
      result: { success: true, format: "png", width: 1520 },
    },
  ],
});

interface ChartArgs {
  readonly type: PlainType | "vega-lite" | "mermaid";
  readonly data?: unknown;
  readonly x?: string | undefined;
  readonly y?: string | readonly unknown[] | undefined;
  readonly series?: string | undefined;
  readonly stacked?: boolean | undefined;
  readonly title?: string | undefined;
  readonly spec?: unknown;
  readonly code?: string | undefined;
  readonly output?: string | undefined;
  readonly format?: "png" | "svg" | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly theme: "light" | "dark";
}

interface Drawing {
  readonly drawn: DrawnChart;
  readonly note?: string | undefined;
  readonly sketch?: string | undefined;
}

async function draw(args: ChartArgs, options: { format: "png" | "svg"; ctx: CallContext }): Promise<Drawing> {
  const { THEMES } = await import("./chart/theme.js");
  const theme = THEMES[args.theme];
  const { format, ctx } = options;
  if (args.type === "mermaid") {
    const { drawMermaid } = await import("./chart/mermaid.js");
    const code =
      args.code ?? (typeof args.spec === "string" ? args.spec : undefined) ?? missing("code", args.type);
    const { background } = theme;
    return { drawn: await drawMermaid({ code, format, dark: args.theme === "dark", background, ctx }) };
  }
  if (args.type === "vega-lite") {
    const spec = specOf(args) ?? missing("spec", args.type);
    const data = args.data === undefined ? {} : { data: { values: await dataOf(args.data, ctx) } };
    const size = { ...(args.width && { width: args.width }), ...(args.height && { height: args.height }) };
    const title = args.title === undefined ? {} : { title: args.title };
    return { drawn: await drawVega({ spec: { ...data, ...title, ...spec, ...size }, theme, format, ctx }) };
  }
  if (args.data === undefined) missing("data", args.type);
  const y = Array.isArray(args.y) ? args.y.map(String) : typeof args.y === "string" ? args.y : undefined;
  const data = await dataOf(args.data, ctx);
  const chart = plainChart({
    ...args,
    type: args.type,
    data,
    y,
    width: args.width ?? 760,
    height: args.height,
  });
  const drawn = await drawVega({ spec: chart.spec, theme, format, ctx });
  return { drawn, note: chart.note, sketch: sketchOf(args.type, chart.points) };
}

/** Rows, or those of a file. */
async function dataOf(data: unknown, ctx: CallContext): Promise<unknown> {
  if (typeof data !== "string") return data;
  const { bytes } = await readMediaFile(data, { ctx, maxBytes: MAX_DATA_BYTES });
  const content = bytes.toString("utf8").replace(/^\ufeff/, "");
  const vega = await ctx.load<typeof import("vega")>("vega");
  try {
    if (/^\s*[[{]/.test(content)) return JSON.parse(content);
    const tabs = (content.split("\n", 1)[0] ?? "").includes("\t");
    return vega.read(content, { type: tabs ? "tsv" : "csv" } as never);
  } catch (cause) {
    throw new ToolError(`${data} is neither JSON nor CSV.`, { hint: "Give the rows as data.", cause });
  }
}

function specOf({ spec }: ChartArgs): Readonly<Record<string, unknown>> | undefined {
  if (isRecord(spec)) return spec;
  if (typeof spec !== "string") return undefined;
  try {
    const parsed: unknown = JSON.parse(spec);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function sourcesOf(args: Pick<ChartArgs, "type" | "data" | "spec">): readonly string[] {
  const spec = args.type === "vega-lite" ? dataSources(specOf({ ...args, theme: "light" })) : [];
  return typeof args.data === "string" ? [args.data, ...spec] : spec;
}

function targetOf(args: Pick<ChartArgs, "type" | "title" | "output" | "format">) {
  const { type, title, output } = args;
  const named = /\.(png|svg)$/i.exec(output ?? "")?.[1]?.toLowerCase();
  const format = args.format ?? (named === "svg" ? "svg" : "png");
  const slug = (title ?? "")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return { path: output ?? `${slug === "" ? `${type}-chart` : slug}.${format}`, format } as const;
}

function missing(field: string, type: string): never {
  throw new ToolError(`A chart of type ${type} needs ${field}.`, {
    code: "invalid_arguments",
    hint:
      type === "mermaid"
        ? 'For example {"type": "mermaid", "code": "graph LR; A-->B"}.'
        : 'For example {"type": "bar", "data": [{"month": "Jan", "sales": 3}], "x": "month", "y": "sales"}.',
  });
}

const SKETCHED = 20;
const SKETCH_WIDTH = 40;

/** Bars for a terminal. */
function sketchOf(
  type: string,
  points: readonly { readonly x: unknown; readonly y: unknown; readonly series?: string }[],
): string | undefined {
  if (!["bar", "pie", "donut"].includes(type) || points.length > SKETCHED) return undefined;
  const bars = points.map(({ x, y, series }) => ({
    label: series === undefined ? String(x) : `${String(x)} ${series}`,
    value: typeof y === "number" ? y : 0,
  }));
  if (bars.some(({ value }) => value < 0)) return undefined;
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const room = Math.max(...bars.map(({ label }) => label.length));
  return bars
    .map(({ label, value }) => {
      const length = Math.round((value / most) * SKETCH_WIDTH);
      return `${label.padEnd(room)}  ${"█".repeat(length)} ${value}`;
    })
    .join("\n");
}
