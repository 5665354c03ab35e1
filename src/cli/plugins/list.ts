import { visible } from "../../base/visible-text.js";
import { bundledPlugins } from "../../registry/bundled-plugins.gen.js";
import type { BundledPlugin } from "../../registry/manifest-types.js";
import { findPlugins } from "../../sources/plugins/find-plugins.js";
import type { FoundPlugin } from "../../sources/plugins/read-plugin.js";
import type { SourceStatus } from "../../sources/types.js";
import { type CommandContext, withRuntime } from "../context.js";
import { bringsOf } from "./found.js";

/** Every plugin there is, enabled or not, and how it is doing. */
export async function list(context: CommandContext): Promise<void> {
  const { out } = context;
  await withRuntime(context, async (runtime) => {
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
      ...bundledPlugins.map((plugin) => bundledRow(plugin, runtime.config.values.plugins.disabled)),
    ];
    out.list({
      rows,
      cells: (row) => [
        out.mark(row.state === "ready" ? "ok" : row.state === "failed" ? "error" : "warning"),
        visible(`${row.name} ${row.version}`.trim()),
        row.state,
        row.place,
        row.reason === undefined
          ? visible(kindsOf(row.brings))
          : out.color.yellow(visible(`${row.reason}${row.fix === undefined ? "" : ` → ${row.fix}`}`)),
      ],
    });
    if (found.length === 0)
      out.note("none of your own: hermes plugins new NAME makes one, hermes plugins install SPEC gets one");
  });
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
    reason: status?.reason ?? problem,
    fix: status?.fix,
  };
}

/** One that comes with the package needs no yes: whoever runs Hermes trusts it already. */
function bundledRow({ name, version, description, tools }: BundledPlugin, disabled: readonly string[]) {
  const off = disabled.includes(name);
  return {
    name,
    state: off ? ("disabled" as const) : ("ready" as const),
    version,
    description,
    place: "bundled",
    folder: "",
    brings: { tools },
    reason: off ? "plugins.disabled names it" : undefined,
    fix: off ? `hermes plugins enable ${name}` : undefined,
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
  const { state = "failed", reason, fix } = status ?? {};
  return { name, state, ...nothing, reason, fix };
}
