import { existsSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { failure, HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

/** Takes a file of YAML tools out of the person's tool folder; a tool's name means the file that brings it. */
export async function run(context: CommandContext, [target = ""]: readonly string[]): Promise<void> {
  const { out, home, flags } = context;
  const folder = join(home, "tools");
  const runtime = await context.runtime();
  const entries = [...runtime.registry.snapshot().entries.values()];
  const file = fileOf(target, folder) ?? entries.find(({ name }) => name === target)?.provenance.source;
  const tools = entries.filter(({ provenance }) => provenance.source === file).map(({ name }) => name);
  await runtime.close();
  if (file === undefined || !/\.ya?ml$/i.test(file) || dirname(file) !== folder || !existsSync(file))
    throw new HermesError(
      failure(
        "not_found",
        `${target} is neither a file in ${folder} nor a tool that comes from one`,
        "hermes tools shows every tool; hermes tools info NAME says where one comes from.",
      ),
    );
  if (flags.dryRun !== true) unlinkSync(file);
  if (out.json) out.value({ ok: true, file, tools, dry_run: flags.dryRun === true });
  else
    out.line(
      `${out.mark("ok")} ${flags.dryRun === true ? "would remove" : "removed"} ${file}: ${tools.join(", ") || "no tools"}`,
    );
}

function fileOf(target: string, folder: string): string | undefined {
  const inFolder = [target, `${target}.yaml`, `${target}.yml`].map((name) => join(folder, basename(name)));
  const isBareName = basename(target) === target;
  const candidates = isBareName ? inFolder : [resolve(target)];
  return candidates.find((path) => /\.ya?ml$/i.test(path) && existsSync(path));
}
