import { type ReactNode, useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { onThemeChange } from "../../lib/settings.js";
import { chooseSpan } from "./range.js";
import "uplot/dist/uPlot.min.css";

export interface Tip {
  readonly index: number;
  readonly left: number;
  readonly flip: boolean;
}

const HEIGHT = 236;

/** A chart on a canvas. Colours are read from the page when it is drawn, so it is drawn anew in another theme. */
export function Plot(props: {
  readonly label: string;
  readonly data: uPlot.AlignedData;
  readonly options: (colour: (name: string) => string) => Omit<uPlot.Options, "width" | "height">;
  /** Changes with what `options` depends on. */
  readonly of: string;
  readonly tip: (index: number) => ReactNode;
}) {
  const { data } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [tip, setTip] = useState<Tip>();
  const [theme, setTheme] = useState(0);
  useEffect(() => onThemeChange(() => setTheme((count) => count + 1)), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew in another theme and for other options
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const style = getComputedStyle(document.documentElement);
    const options = latest.current.options((name) => style.getPropertyValue(name).trim());
    const made = new uPlot(
      {
        ...options,
        ms: 1,
        width: Math.max(160, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
        hooks: {
          ...options.hooks,
          setCursor: [
            (self) => {
              const { idx, left = -1 } = self.cursor;
              setTip(
                idx === null || idx === undefined || left < 0
                  ? undefined
                  : {
                      index: idx,
                      left: left + self.bbox.left / devicePixelRatio,
                      flip: left > self.bbox.width / devicePixelRatio / 2,
                    },
              );
            },
          ],
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width < 4) return;
              const from = self.posToVal(left, "x");
              const until = self.posToVal(left + width, "x");
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              chooseSpan(from, until);
            },
          ],
        },
      },
      latest.current.data,
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => {
      const width = Math.max(160, element.clientWidth);
      if (width !== made.width) made.setSize({ width, height: HEIGHT });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [props.of, theme]);
  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <div className="plot">
      <div ref={host} role="img" aria-label={props.label} />
      {tip !== undefined && (
        <div
          className={tip.flip ? "plot-tip flip" : "plot-tip"}
          style={{ left: tip.left }}
          aria-hidden="true"
        >
          {props.tip(tip.index)}
        </div>
      )}
    </div>
  );
}

/** Grid lines lie, no frame, labels small. */
export function axes(options: {
  readonly colour: (name: string) => string;
  readonly ticks: (from: number, until: number) => number[];
  readonly tickText: (at: number, spanMs: number) => string;
  readonly y: Partial<uPlot.Axis>;
}): uPlot.Axis[] {
  const font = `500 11px ${options.colour("--font-sans")}`;
  const stroke = options.colour("--text-3");
  return [
    {
      font,
      stroke,
      size: 24,
      gap: 6,
      grid: { show: false },
      ticks: { show: false },
      splits: (_self, _axis, from, until) => options.ticks(from, until),
      values: (self, splits) => {
        const { min = 0, max = 0 } = self.scales.x ?? {};
        return splits.map((at) => options.tickText(at, (max ?? 0) - (min ?? 0)));
      },
    },
    {
      font,
      stroke,
      gap: 6,
      ticks: { show: false },
      grid: { stroke: options.colour("--grid"), width: 1 },
      ...options.y,
    },
  ];
}
