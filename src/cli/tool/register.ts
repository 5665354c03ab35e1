import { existsSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { quoteIfNeeded } from "../../base/quote.js";
import { variablesOf } from "../../toolfile/read-auth.js";
import type { ToolSpec } from "../../toolfile/tool-spec.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { brief } from "../output.js";
import { nameConflicts, openToolFile, type Stored, storeToolFile } from "./tool-file.js";

const STORED: Readonly<Record<Stored, string>> = {
  new: "registered in",
  same: "already registered in",
  replaced: "replaced",
};

/** Checks a file of YAML tools and puts it where every runtime of this person finds it. */
export async function register(context: CommandContext): Promise<void> {
  const { options } = context;
  const { out, home, flags } = context;
  const file = await openToolFile(String(options.config), out);
  if (file === undefined) return;
  const target = join(home, "tools", fileName(options.name, file.path));
  const runtime = await context.runtime();
  const conflicts = nameConflicts(runtime, file.tools, target);
  const missing = missingVariables(file.tools, runtime.config.env);
  await runtime.close();
  if (conflicts.length > 0) {
    if (out.json) out.value({ ok: false, file: file.path, conflicts });
    else
      for (const { name, taken_by } of conflicts)
        out.line(`${out.mark("error")} ${name}: the name is taken by ${taken_by}; choose another one`);
    process.exitCode = EXIT.usage;
    return;
  }
  const stored = await storeToolFile({
    home,
    path: target,
    text: file.text,
    force: options.force === true,
    dryRun: flags.dryRun === true,
  });
  const example = commandToTry(file.tools);
  if (out.json) {
    const tools = file.tools.map(({ name, type, description, toolset, enabled }) => ({
      name,
      type,
      description,
      toolset,
      enabled,
    }));
    out.value({
      ok: true,
      file: target,
      stored,
      dry_run: flags.dryRun === true,
      tools,
      missing_env: missing,
      try: example,
    });
    return;
  }
  out.table(
    file.tools.map(({ name, type, description }) => [
      `  ${out.color.bold(name)}`,
      type,
      brief(description, 60),
    ]),
  );
  out.line(
    flags.dryRun === true
      ? `${out.mark("ok")} ${file.tools.length} tools, no problems; nothing was changed (--dry-run)`
      : `${out.mark("ok")} ${STORED[stored]} ${target}`,
  );
  if (missing.length > 0)
    out.line(
      `${out.mark("warning")} not set yet: ${missing.join(", ")} (environment, or ${join(home, ".env")})`,
    );
  if (example !== undefined) out.line(`try: ${example}`);
}

function fileName(given: unknown, path: string): string {
  const name = given === undefined ? basename(path) : String(given);
  const whole = /\.ya?ml$/i.test(name) ? name : `${name}.yaml`;
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}$/.test(whole)) return whole;
  throw commandError(
    "bad_request",
    `${JSON.stringify(name)} cannot be a file name`,
    "Use letters, digits, _ . and - with --name.",
  );
}

/** Variables that the tools of a file take credentials from and that nobody has set. */
export function missingVariables(
  tools: readonly ToolSpec[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const names = tools.flatMap((tool) => {
    if (tool.type === "http_wrapper") return variablesOf(tool.auth);
    return tool.type === "command" ? tool.env.flatMap(([, from]) => ("env" in from ? [from.env] : [])) : [];
  });
  return [...new Set(names)].filter((name) => !env[name]).sort();
}

/** One call that a person can paste. */
export function commandToTry(tools: readonly ToolSpec[]): string | undefined {
  const tool = tools.find(({ enabled }) => enabled);
  if (tool === undefined) return undefined;
  const args =
    tool.examples?.[0]?.arguments ??
    Object.fromEntries(
      tool.parameters.filter(({ required }) => required).map(({ name, schema }) => [name, sampleOf(schema)]),
    );
  const words = Object.entries(args).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${quoteIfNeeded(text)}`;
  });
  return ["hermes call", tool.name, ...words].join(" ");
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: "text",
  integer: 1,
  number: 1,
  boolean: true,
  array: [],
  object: {},
};

function sampleOf(schema: Readonly<Record<string, unknown>>): unknown {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return typeof type === "string" ? (SAMPLES[type] ?? "text") : "text";
}

/** Takes a file of YAML tools out of the person's tool folder; a tool's name means the file that brings it. */
export async function unregister(context: CommandContext): Promise<void> {
  const { out, home, flags } = context;
  const [target = ""] = context.args;
  const folder = join(home, "tools");
  const runtime = await context.runtime();
  const entries = [...runtime.registry.snapshot().entries.values()];
  const file = fileOf(target, folder) ?? entries.find(({ name }) => name === target)?.provenance.source;
  const tools = entries.filter(({ provenance }) => provenance.source === file).map(({ name }) => name);
  await runtime.close();
  if (file === undefined || !/\.ya?ml$/i.test(file) || dirname(file) !== folder || !existsSync(file))
    throw commandError(
      "not_found",
      `${target} is neither a file in ${folder} nor a tool that comes from one`,
      "hermes tools shows every tool; hermes tools info NAME says where one comes from.",
    );
  if (flags.dryRun !== true) unlinkSync(file);
  out.result(
    { ok: true, file, tools, dry_run: flags.dryRun === true },
    `${out.mark("ok")} ${flags.dryRun === true ? "would remove" : "removed"} ${file}: ${tools.join(", ") || "no tools"}`,
  );
}

function fileOf(target: string, folder: string): string | undefined {
  const inFolder = [target, `${target}.yaml`, `${target}.yml`].map((name) => join(folder, basename(name)));
  const isBareName = basename(target) === target;
  const candidates = isBareName ? inFolder : [resolve(target)];
  return candidates.find((path) => /\.ya?ml$/i.test(path) && existsSync(path));
}
