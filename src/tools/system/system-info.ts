import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { systemTable } from "./system-table.js";

const SECTIONS = ["cpu", "memory", "disk", "network", "os", "processes", "gpu"] as const;
type Section = (typeof SECTIONS)[number];
type SystemInformation = typeof import("systeminformation");

export default defineTool({
  name: "system_info",
  toolset: "sysinfo",
  emoji: "📊",
  description: "Measure this machine: load, memory, disks, busiest processes and more.",
  parameters: {
    type: "object",
    properties: {
      sections: {
        type: "array",
        items: { type: "string", enum: SECTIONS },
        uniqueItems: true,
        default: ["cpu", "memory", "disk", "os"],
      },
      top_n: { type: "integer", minimum: 1, maximum: 100, default: 10, description: "Processes to list." },
    },
    additionalProperties: false,
  },
  permissions: ["system:read"],
  effects: () => [{ action: "system:read", resource: "local", mode: "read" }],
  idempotent: false,
  timeoutMs: 60_000,

  async handler({ sections, top_n }, ctx): Promise<Readonly<Record<string, unknown>>> {
    if (ctx.environment.kind !== "local") {
      throw new ToolError(
        `system_info measures the machine the runtime runs on, but this session acts on ${ctx.environment.name}.`,
        {
          code: "unavailable",
          hint: "Ask that machine with the terminal tool: uname -a, free -m, df -h, ps.",
        },
      );
    }
    const { default: si } = await import("systeminformation");
    const wanted = sections.length === 0 ? (["cpu", "memory", "disk", "os"] as const) : sections;
    const measured = await Promise.all(
      wanted.map(async (section) => [section, await MEASURE[section](si, top_n)] as const),
    );
    return {
      ...Object.fromEntries(measured),
      uptime_s: Math.round(si.time().uptime),
      environment: ctx.environment.name,
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: systemTable(out) }),

  examples: [
    {
      title: "Ask what the machine runs on and how busy it is",
      arguments: { sections: ["os", "memory"] },
      result: { os: {}, memory: {}, environment: "local" },
    },
  ],
});

const MEASURE: Readonly<Record<Section, (si: SystemInformation, topN: number) => Promise<unknown>>> = {
  async cpu(si) {
    const [cpu, load] = await Promise.all([si.cpu(), si.currentLoad()]);
    return {
      model: `${cpu.manufacturer} ${cpu.brand}`.trim(),
      cores: cpu.cores,
      physical_cores: cpu.physicalCores,
      speed_ghz: cpu.speed,
      load_percent: rounded(load.currentLoad),
      load_average: load.avgLoad,
    };
  },
  async memory(si) {
    const memory = await si.mem();
    return {
      total_bytes: memory.total,
      used_bytes: memory.active,
      available_bytes: memory.available,
      used_percent: rounded((memory.active / memory.total) * 100),
      swap_total_bytes: memory.swaptotal,
      swap_used_bytes: memory.swapused,
    };
  },
  async disk(si) {
    const disks = await si.fsSize();
    return disks.map((disk) => ({
      filesystem: disk.fs,
      type: disk.type,
      mount: disk.mount,
      size_bytes: disk.size,
      used_bytes: disk.used,
      available_bytes: disk.available,
      used_percent: rounded(disk.use),
    }));
  },
  async network(si) {
    const interfaces = await si.networkInterfaces();
    return [interfaces].flat().map((one) => ({
      name: one.iface,
      ip4: one.ip4,
      ip6: one.ip6,
      mac: one.mac,
      state: one.operstate,
      internal: one.internal,
    }));
  },
  async os(si) {
    const os = await si.osInfo();
    return {
      platform: os.platform,
      distribution: os.distro,
      release: os.release,
      kernel: os.kernel,
      architecture: os.arch,
      hostname: os.hostname,
      node: process.version,
    };
  },
  async processes(si, topN) {
    const all = await si.processes();
    return {
      total: all.all,
      running: all.running,
      top: [...all.list]
        .sort((left, right) => right.cpu - left.cpu || right.memRss - left.memRss)
        .slice(0, topN)
        .map((one) => ({
          pid: one.pid,
          name: one.name,
          user: one.user,
          cpu_percent: rounded(one.cpu),
          memory_bytes: one.memRss * 1024,
          started: one.started,
        })),
    };
  },
  async gpu(si) {
    const { controllers } = await si.graphics();
    return controllers.map((one) => ({
      vendor: one.vendor,
      model: one.model,
      memory_mb: one.vram,
      used_percent: one.utilizationGpu ?? null,
    }));
  },
};

function rounded(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 10) / 10 : 0;
}
