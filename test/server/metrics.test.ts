import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { metricsText } from "../../src/observe/prometheus.js";
import { needs } from "../support/needs.js";
import { startServer, type TestServer } from "./support.js";
import { echo } from "./tools.js";

/** The grammar of the text format 0.0.4: anything else is an error. */
function parse(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.trimEnd().split("\n")) {
    if (line.startsWith("# ")) {
      expect(line).toMatch(/^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/);
      continue;
    }
    const sample = /^([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)$/.exec(line);
    expect(sample, line).not.toBeNull();
    const [, name = "", value = ""] = sample ?? [];
    expect(samples.has(name), `twice: ${name}`).toBe(false);
    samples.set(name, Number(value));
  }
  return samples;
}

async function metricsOf({ ask }: TestServer): Promise<string> {
  const answer = await ask("/metrics");
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return answer.text();
}

const call = (name: string) => ({ tool_calls: [{ id: "1", function: { name, arguments: { text: "hi" } } }] });

describe("/metrics", () => {
  it("counts calls by tool, toolset and status, with a histogram of what they took", async () => {
    const server = await startServer([echo], { runtime: { journal: true } });
    for (let count = 0; count < 3; count += 1) await server.calls(call("echo"));
    const samples = parse(await metricsOf(server));
    expect(samples.get(`hermes_tool_calls_total{tool="echo",toolset="${echo.toolset}",status="ok"}`)).toBe(3);
    expect(samples.get('hermes_tool_duration_seconds_count{tool="echo"}')).toBe(3);
    expect(samples.get('hermes_tool_duration_seconds_bucket{tool="echo",le="+Inf"}')).toBe(3);
    expect(samples.get('hermes_tool_duration_seconds_sum{tool="echo"}')).toBeGreaterThan(0);
    expect(samples.get("hermes_processes")).toBe(0);
    expect(samples.get('hermes_approvals_total{decision="once"}')).toBe(0);
    expect([...samples.keys()].some((name) => name.startsWith("hermes_build_info{version="))).toBe(true);
  });

  it("lesson 106: whatever is called and in however many sessions, there are no more labels", async () => {
    const server = await startServer([echo], { runtime: { journal: true } });
    await server.calls(call("echo"));
    const before = parse(await metricsOf(server)).size;
    for (let count = 0; count < 40; count += 1)
      await server.calls(call(`made-up-${count}`), { headers: { "x-hermes-session": `session-${count}` } });
    const text = await metricsOf(server);
    const samples = parse(text);
    expect(samples.get('hermes_tool_calls_total{tool="unknown",toolset="unknown",status="error"}')).toBe(40);
    expect(text).not.toMatch(/made-up|session-\d/);
    // One counter and one histogram for all of them together.
    expect(samples.size).toBe(before + 1 + 18);
  });

  it("promtool finds nothing wrong with it", async (context) => {
    needs(context, "promtool");
    const server = await startServer([echo], { runtime: { journal: true } });
    await server.calls(call("echo"));
    await server.calls(call("nobody"));
    const input = await metricsOf(server);
    expect(execFileSync("promtool", ["check", "metrics"], { input, encoding: "utf8" })).toBe("");
  });
});

it("text of others in a label cannot end it", () => {
  const text = metricsText([
    {
      name: "a_total",
      type: "counter",
      help: "One\nline.",
      samples: [{ labels: { name: 'x"} 1\n\\b_total 2' }, value: 1 }],
    },
  ]);
  expect(parse(text)).toEqual(new Map([['a_total{name="x\\"} 1\\n\\\\b_total 2"}', 1]]));
});
