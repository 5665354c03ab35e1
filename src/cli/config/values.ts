import { setConfigValue } from "../../config/edit.js";
import { getConfigValue } from "../../config/get-value.js";
import { hermesPaths } from "../../config/paths.js";
import { CONFIG_KEYS } from "../../config/schema.js";
import { trustFolder, untrustFolder } from "../../config/trust.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { describeOrigin } from "../output.js";

export async function get({ out, config: load, args, options }: CommandContext): Promise<void> {
  const [key] = args;
  const config = await load();
  const showOrigin = options.showOrigin === true;
  const read = (path: string) => {
    const found = getConfigValue(config, path);
    if (!found.ok) throw new HermesError(found);
    return { key: path, value: found.value, origin: config.origin(path) };
  };
  const originOf = ({ origin }: ReturnType<typeof read>) => (showOrigin ? `  ${describeOrigin(origin)}` : "");
  if (key === undefined) {
    const rows = CONFIG_KEYS.map((known) => read(known.path));
    const cells = (row: ReturnType<typeof read>) => [
      `${row.key} = ${plain(row.value)}${out.color.dim(originOf(row))}`,
    ];
    return out.list({ rows, cells });
  }
  const row = read(key);
  out.result(showOrigin ? row : row.value, `${plain(row.value)}${originOf(row)}`);
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

export async function set({ out, home, args }: CommandContext): Promise<void> {
  const [key = "", value = ""] = args;
  const done = await setConfigValue({ home, key, value });
  if (!done.ok) throw new HermesError(done);
  out.result(done, `${done.key} ${done.changed ? "set" : "was already set so"} in ${done.file}`);
}

export async function path({ out, home }: CommandContext): Promise<void> {
  const paths = hermesPaths(home);
  if (out.json) out.value(paths);
  else out.table(Object.entries(paths));
}

export async function trust({ out, home, args }: CommandContext): Promise<void> {
  const done = await trustFolder({ home, folder: args[0] ?? process.cwd() });
  if (!done.ok) throw new HermesError(done);
  out.result(done, `${done.folder} is trusted: its .hermes settings and tools count`);
}

export async function untrust({ out, home, args }: CommandContext): Promise<void> {
  const done = await untrustFolder({ home, folder: args[0] ?? process.cwd() });
  if (!done.ok) throw new HermesError(done);
  out.result(done, `${done.folder} is no longer trusted`);
}
