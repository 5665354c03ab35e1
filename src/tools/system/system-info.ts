import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";

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
    // At least this process runs: an empty list is a list that could not be made.
    if (all.list.length === 0) {
      throw new ToolError("The processes cannot be listed: there is no ps on this machine.", {
        code: "unavailable",
        hint: "Install it (Debian: procps), or leave out the section processes.",
      });
    }
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

/** A report of sections as tables: one line a fact, lists with a line for each entry. */
function systemTable(report: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  const plain: string[][] = [];
  for (const [section, value] of Object.entries(report)) {
    if (typeof value === "object" && value !== null) {
      parts.push(`${mark.heading(section)}\n${sectionTable(value)}`);
    } else plain.push([mark.dim(labelOf(section)), shown(section, value)]);
  }
  return [...parts, columns(plain)].join("\n\n");
}

function sectionTable(section: object): string {
  if (Array.isArray(section)) return listTable(section);
  const facts: string[][] = [];
  const lists: string[] = [];
  for (const [name, value] of Object.entries(section)) {
    if (Array.isArray(value)) lists.push(listTable(value));
    else facts.push([mark.dim(labelOf(name)), shown(name, value)]);
  }
  return [columns(facts), ...lists].join("\n");
}

function listTable(entries: readonly object[]): string {
  const [first] = entries;
  if (first === undefined) return mark.dim("none");
  const names = Object.keys(first);
  const right = names.flatMap((name, at) => (/_(?:bytes|percent|mb)$|^pid$/.test(name) ? [at] : []));
  const rows = entries.map((entry) =>
    names.map((name) => shown(name, (entry as Readonly<Record<string, unknown>>)[name])),
  );
  return columns([names.map((name) => mark.dim(labelOf(name))), ...rows], { right });
}

function labelOf(name: string): string {
  return name.replace(/_(?:bytes|percent|ghz|s)$/, "").replaceAll("_", " ");
}

function shown(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value !== "number") return String(value);
  if (name.endsWith("_bytes")) return sizeText(value, "decimal");
  if (name.endsWith("_percent")) return percent(value);
  if (name === "speed_ghz") return `${value} GHz`;
  return name === "uptime_s" ? duration(value) : String(value);
}

function percent(value: number): string {
  const text = `${value} %`;
  return value >= 90 ? mark.bad(text) : value >= 75 ? mark.warning(text) : text;
}

function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}
