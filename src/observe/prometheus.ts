/** One family of the text format 0.0.4 of Prometheus. */
export interface MetricFamily {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** Of a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function metricsText(families: readonly MetricFamily[]): string {
  return families
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`,
      );
      return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
    })
    .join("");
}

/** Cumulative counts as a histogram's samples; `all` counts also what is above the last bound. */
export function histogramSamples(
  labels: Readonly<Record<string, string>>,
  counted: {
    readonly bounds: readonly number[];
    readonly counts: readonly number[];
    readonly all: number;
    readonly sum: number;
  },
): readonly Sample[] {
  const bucket = (le: string, value: number): Sample => ({
    suffix: "_bucket",
    labels: { ...labels, le },
    value,
  });
  return [
    ...counted.bounds.map((bound, index) => bucket(String(bound), counted.counts[index] ?? 0)),
    bucket("+Inf", counted.all),
    { suffix: "_sum", labels, value: counted.sum },
    { suffix: "_count", labels, value: counted.all },
  ];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
