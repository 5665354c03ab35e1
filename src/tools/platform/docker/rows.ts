import { isRecord } from "../../../base/record.js";
import { namesSecret } from "../../../policy/secrets.js";

export type Row = Readonly<Record<string, unknown>>;

/** Docker prints an object per line, Podman one list. */
export function readRows(output: string): readonly Row[] {
  const text = output.trim();
  if (text === "") return [];
  try {
    const whole: unknown = JSON.parse(text);
    return (Array.isArray(whole) ? whole : [whole]).filter(isRecord);
  } catch {
    return text.split("\n").flatMap((line) => {
      try {
        const row: unknown = JSON.parse(line);
        return isRecord(row) ? [row] : [];
      } catch {
        return [];
      }
    });
  }
}

function first(row: Row, ...names: readonly string[]): unknown {
  return names.map((name) => row[name]).find((value) => value !== undefined && value !== null);
}

function words(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(" ") : String(value ?? "");
}

/** One shape for both engines. */
export function containerRow(row: Row) {
  return {
    id: words(first(row, "ID", "Id")),
    name: words(first(row, "Names", "Name")).replace(/^\//, ""),
    image: words(first(row, "Image")),
    command: words(first(row, "Command")).replace(/^"|"$/g, ""),
    state: words(first(row, "State")).toLowerCase(),
    status: words(first(row, "Status")),
    ports: portsOf(first(row, "Ports")),
    created: words(first(row, "CreatedAt", "Created")),
  };
}

function portsOf(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value
      .filter(isRecord)
      .map(
        ({ host_ip, host_port, container_port, protocol }) =>
          `${host_ip === "" || host_ip === undefined ? "0.0.0.0" : host_ip}:${host_port}->${container_port}/${protocol ?? "tcp"}`,
      );
  return words(value)
    .split(", ")
    .filter((port) => port !== "");
}

export function imageRow(row: Row) {
  const names = Array.isArray(row.Names) ? row.Names.map(String) : [];
  const [repository = "", tag = ""] =
    row.Repository === undefined
      ? splitTag(names[0] ?? "<none>:<none>")
      : [words(row.Repository), words(row.Tag)];
  return {
    id: words(first(row, "ID", "Id")).replace(/^sha256:/, ""),
    repository,
    tag,
    size: first(row, "Size") ?? null,
    created: words(first(row, "CreatedAt", "Created")),
  };
}

function splitTag(name: string): readonly [string, string] {
  const cut = name.lastIndexOf(":");
  return cut > name.lastIndexOf("/") ? [name.slice(0, cut), name.slice(cut + 1)] : [name, "latest"];
}

export function statsRow(row: Row) {
  return {
    id: words(first(row, "ID", "Container", "id", "ContainerID")),
    name: words(first(row, "Name", "name")),
    cpu: words(first(row, "CPUPerc", "cpu_percent", "CPU")),
    memory: words(first(row, "MemUsage", "mem_usage")),
    memory_percent: words(first(row, "MemPerc", "mem_percent")),
    network: words(first(row, "NetIO", "net_io")),
    disk: words(first(row, "BlockIO", "block_io")),
    processes: words(first(row, "PIDs", "pids", "PIDS")),
  };
}

/**
 * Variables of a container often hold passwords: their values are not for a model. They stand in more than one list,
 * since Podman keeps the command that made the container, too.
 */
export function withoutSecretVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretVariables);
  if (typeof value === "string") return maskedVariable(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutSecretVariables(inner)]),
  );
}

function maskedVariable(line: string): string {
  const [, head = "", name = ""] = /^((?:--env=|-e)?([A-Za-z_]\w*)=)/.exec(line) ?? [];
  return name !== "" && namesSecret(name) ? `${head}***` : line;
}
