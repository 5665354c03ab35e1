import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { compileValidator } from "../../src/tool/validate.js";
import { startServer } from "../server/support.js";
import { needs } from "../support/needs.js";
import { tempDir } from "../support/runtime.js";

interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: GridPos;
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const FILE = new URL("../../docs/grafana/hermes-tools.json", import.meta.url);
const dashboard = JSON.parse(readFileSync(FILE, "utf8")) as Dashboard;

const DATA_SOURCE = {
  type: "object",
  required: ["type", "uid"],
  properties: { type: { const: "prometheus" }, uid: { const: "$" + "{datasource}" } },
  additionalProperties: false,
};

/** What Grafana's published schema of dashboards (its kind "Dashboard") says of the parts that are used here. */
const SCHEMA = {
  type: "object",
  required: ["uid", "title", "schemaVersion", "panels", "templating"],
  additionalProperties: false,
  properties: {
    uid: { type: "string", minLength: 8, maxLength: 40 },
    title: { type: "string", minLength: 1 },
    tags: { type: "array", items: { type: "string" } },
    timezone: { type: "string" },
    editable: { type: "boolean" },
    time: {
      type: "object",
      required: ["from", "to"],
      properties: { from: { type: "string" }, to: { type: "string" } },
    },
    refresh: { type: ["string", "boolean"] },
    schemaVersion: { type: "integer", minimum: 36, maximum: 65_535 },
    version: { type: "integer", minimum: 0 },
    annotations: { type: "object", properties: { list: { type: "array", maxItems: 0 } } },
    links: { type: "array", maxItems: 0 },
    templating: {
      type: "object",
      required: ["list"],
      properties: {
        list: {
          type: "array",
          items: {
            type: "object",
            required: ["name", "type", "query", "hide"],
            properties: {
              name: { type: "string", pattern: "^\\w+$" },
              type: { enum: ["query", "constant", "datasource", "interval", "textbox", "custom"] },
              query: { type: ["string", "object"] },
              hide: { enum: [0, 1, 2] },
              datasource: DATA_SOURCE,
            },
          },
        },
      },
    },
    panels: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["id", "type", "title", "gridPos", "datasource", "targets", "options", "fieldConfig"],
        additionalProperties: false,
        properties: {
          id: { type: "integer", minimum: 1 },
          type: { enum: ["timeseries", "stat", "bargauge", "gauge", "table", "barchart"] },
          title: { type: "string", minLength: 1 },
          description: { type: "string" },
          datasource: DATA_SOURCE,
          options: { type: "object" },
          fieldConfig: {
            type: "object",
            required: ["defaults", "overrides"],
            properties: {
              defaults: { type: "object", properties: { unit: { type: "string" } } },
              overrides: { type: "array" },
            },
          },
          gridPos: {
            type: "object",
            required: ["x", "y", "w", "h"],
            additionalProperties: false,
            properties: {
              x: { type: "integer", minimum: 0, maximum: 23 },
              y: { type: "integer", minimum: 0 },
              w: { type: "integer", minimum: 1, maximum: 24 },
              h: { type: "integer", minimum: 1 },
            },
          },
          targets: {
            type: "array",
            minItems: 1,
            items: {
              type: "object",
              required: ["refId", "expr", "datasource"],
              properties: {
                refId: { type: "string", pattern: "^[A-Z]$" },
                expr: { type: "string", minLength: 1 },
                datasource: DATA_SOURCE,
              },
            },
          },
        },
      },
    },
  },
};

/** Every expression, the variables filled in as Grafana does. */
const EXPRESSIONS = dashboard.panels.flatMap(({ targets }) =>
  targets.map(({ expr }) =>
    expr.replaceAll("$__rate_interval", "5m").replaceAll("$__range", "6h").replaceAll("$tool", ".*"),
  ),
);

/** The names that an expression asks for: metrics, and labels within braces and behind `by`. */
function namesIn(expression: string) {
  return {
    metrics: [...expression.matchAll(/\bhermes_\w+/g)].map(([name]) => name),
    labels: [
      ...[...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = ""]) =>
        [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
      ),
      ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/)),
    ],
  };
}

describe("the dashboard for Grafana", () => {
  it("is as the schema of dashboards says", () => {
    const validator = compileValidator(SCHEMA);
    expect(validator.issues(dashboard)).toEqual([]);
    const [panel] = dashboard.panels;
    expect(validator.check({ ...dashboard, panels: [{ ...panel, gridPos: undefined }] })).toBe(false);
  });

  it("has panels with ids of their own that do not lie on each other", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, gridPos, targets } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
    const onEachOther = panels.flatMap((one, index) =>
      panels.slice(index + 1).flatMap((other) => (overlap(one.gridPos, other.gridPos) ? [[one, other]] : [])),
    );
    expect(onEachOther).toEqual([]);
  });

  it("asks only for metrics and labels that there are, and knows its variables", async () => {
    const { ask } = await startServer();
    const text = await (await ask("/metrics")).text();
    const known = new Set(
      [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = "", type]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const documented = readFileSync(new URL("../../docs/observability.md", import.meta.url), "utf8");
    for (const expression of EXPRESSIONS) {
      const { metrics, labels } = namesIn(expression);
      expect(metrics.length, expression).toBeGreaterThan(0);
      for (const metric of metrics) expect(known, expression).toContain(metric);
      for (const label of labels.filter((name) => name !== "le"))
        expect(documented, expression).toMatch(
          new RegExp(`\\| \`${metrics[0]?.replace(/_bucket$/, "")}\`.*\\|.*\`${label}\``),
        );
      expect(expression).not.toContain("$");
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource", "tool"]);
  });

  it("has expressions that Prometheus takes", (context) => {
    needs(context, "promtool");
    const file = join(tempDir(), "rules.yaml");
    const check = (expressions: readonly string[]) => {
      const rules = expressions.map((expr, index) => ({ record: `hermes:panel:${index}`, expr }));
      writeFileSync(file, stringify({ groups: [{ name: "panels", rules }] }));
      return execFileSync("promtool", ["check", "rules", file], { encoding: "utf8", stdio: "pipe" });
    };
    expect(check(EXPRESSIONS)).toContain(`SUCCESS: ${EXPRESSIONS.length} rules found`);
    expect(() => check(["sum by (tool) (rate(hermes_tool_calls_total))"])).toThrow(
      "expected type range vector",
    );
  });
});

function overlap(one: GridPos, other: GridPos): boolean {
  return (
    one.x < other.x + other.w &&
    other.x < one.x + one.w &&
    one.y < other.y + other.h &&
    other.y < one.y + one.h
  );
}
