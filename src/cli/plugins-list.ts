import { visible } from "../base/visible-text.js";
import { findPlugins } from "../sources/plugins/find-plugins.js";
import type { FoundPlugin } from "../sources/plugins/read-plugin.js";
import type { SourceStatus } from "../sources/types.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";
import { bringsOf } from "./plugins-found.js";

/** Every plugin there is, enabled or not, and how it is doing. */
export async function run({ out, runtime: open }: CommandContext): Promise<void> {
  const runtime = await open();
  try {
    const found = await findPlugins(runtime.config);
    const statuses = new Map(
      runtime.sources
        .status()
        .filter(({ source }) => source.startsWith("plugin:"))
        .map((status) => [status.source.slice("plugin:".length), status]),
    );
    const missing = [...statuses.keys()].filter((name) => !found.some((plugin) => plugin.name === name));
    const rows = [
      ...found.map((plugin) => rowOf(plugin, statuses.get(plugin.name))),
      ...missing.map((name) => absentRow(name, statuses.get(name))),
    ];
    if (out.json) {
      out.values(rows);
      return;
    }
    if (rows.length === 0)
      out.line("no plugins; hermes plugins new NAME makes one, hermes plugins install SPEC gets one");
    const lines = rows.map((row) => [
      out.mark(row.state === "ready" ? "ok" : row.state === "failed" ? "error" : "warning"),
      visible(`${row.name} ${row.version}`.trim()),
      row.state,
      row.place,
      row.reason === undefined
        ? visible(kindsOf(row.brings))
        : out.color.yellow(visible(`${row.reason}${row.fix === undefined ? "" : ` → ${row.fix}`}`)),
    ]);
    for (const line of table(lines)) out.line(line);
  } finally {
    await runtime.close();
  }
}

function rowOf(plugin: FoundPlugin, status: SourceStatus | undefined) {
  const { name, place, folder, manifest, problems } = plugin;
  const [problem] = problems;
  return {
    name,
    state: status?.state ?? (problem === undefined ? "disabled" : "failed"),
    version: manifest?.version ?? "",
    description: manifest?.description ?? "",
    place,
    folder,
    brings: manifest === undefined ? {} : bringsOf(manifest),
    ...reasonOf(status, problem),
  };
}

function kindsOf(brings: Readonly<Record<string, readonly string[]>>): string {
  const kinds = Object.entries(brings).map(
    ([kind, names]) => `${kind.replace("_", " ")}: ${names.join(", ")}`,
  );
  return kinds.join("; ");
}

function absentRow(name: string, status: SourceStatus | undefined) {
  const nothing = { version: "", description: "", place: "", folder: "", brings: {} };
  return { name, state: status?.state ?? "failed", ...nothing, ...reasonOf(status, undefined) };
}

function reasonOf(
  status: SourceStatus | undefined,
  problem: string | undefined,
): { readonly reason?: string; readonly fix?: string } {
  const reason = status?.reason ?? problem;
  return { ...(reason !== undefined && { reason }), ...(status?.fix !== undefined && { fix: status.fix }) };
}
