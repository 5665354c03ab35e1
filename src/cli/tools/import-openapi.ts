import { join, resolve } from "node:path";
import { networkRules } from "../../net/rules.js";
import { HermesError } from "../../tool/errors.js";
import { importOpenApi } from "../../toolfile/openapi/convert.js";
import { openDocument } from "../../toolfile/openapi/document.js";
import { renderToolFile } from "../../toolfile/openapi/render.js";
import type { AuthSection } from "../../toolfile/openapi/security.js";
import { MAX_FILE_BYTES, readToolFile } from "../../toolfile/read-file.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { commandToTry, missingVariables } from "../tool/register.js";
import { nameConflicts, storeToolFile } from "../tool/tool-file.js";

const MOST_SHOWN = 20;

/** One tool per operation of a service, written as a file of YAML tools. */
export async function importOpenApiTools(context: CommandContext): Promise<void> {
  const { out, home, flags, options } = context;
  const [target = ""] = context.args;
  const runtime = await context.runtime();
  try {
    const { values, env } = runtime.config;
    const isUrl = /^https?:\/\//i.test(target);
    const opened = await openDocument(isUrl ? target : resolve(target), networkRules(values));
    if (!opened.ok) throw new HermesError(opened.problem);
    const imported = importOpenApi(opened.document, {
      ...wishesOf(options),
      documentUrl: opened.url,
    });
    if (!imported.ok) throw commandError("bad_request", `${target}: ${imported.message}`, imported.hint);
    const { service, tools, leftOut } = imported;
    if (tools.length === 0)
      throw commandError(
        "bad_request",
        `${target} has no operation that could be imported`,
        leftOut[0]?.reason,
      );
    const path = join(home, "tools", `${service}.openapi.yaml`);
    const text = await renderToolFile(imported.file);
    const reading = await readToolFile(text);
    if (text.length > MAX_FILE_BYTES)
      throw commandError(
        "bad_request",
        `${target} has ${tools.length} operations, more than a file of ${MAX_FILE_BYTES / 1024 / 1024} MiB can hold`,
        "Choose some of them with --include or --tag.",
      );
    if (!reading.ok)
      throw new Error(`the import made a file that cannot be read: ${reading.problems[0]?.message}`);
    const conflicts = nameConflicts(runtime, reading.tools, path);
    if (conflicts.length > 0)
      throw commandError(
        "bad_request",
        `${conflicts.length} names are taken, for example ${conflicts[0]?.name} by ${conflicts[0]?.taken_by}`,
        "Choose another --prefix.",
      );
    const dryRun = flags.dryRun === true;
    const stored = await storeToolFile({ home, path, text, force: options.force === true, dryRun });
    const missing = missingVariables(reading.tools, env);
    const example = commandToTry(reading.tools);
    if (out.json)
      return out.value({
        ok: true,
        service,
        file: path,
        stored,
        dry_run: dryRun,
        tools,
        left_out: leftOut,
        missing_env: missing,
        try: example,
      });
    const rows = tools
      .slice(0, MOST_SHOWN)
      .map(({ name, method, path: route }) => [`  ${out.color.bold(name)}`, method, route]);
    out.table(rows);
    if (tools.length > MOST_SHOWN) out.line(`  and ${tools.length - MOST_SHOWN} more (--json shows all)`);
    for (const { operation, reason } of leftOut.slice(0, MOST_SHOWN))
      out.line(`${out.mark("warning")} left out ${operation}: ${reason}`);
    if (leftOut.length > MOST_SHOWN) out.line(`  and ${leftOut.length - MOST_SHOWN} more (--json shows all)`);
    out.line(
      dryRun
        ? `${out.mark("ok")} ${tools.length} tools; nothing was changed (--dry-run)`
        : `${out.mark("ok")} ${tools.length} tools in ${path}${stored === "same" ? " (as before)" : ""}`,
    );
    if (missing.length > 0) out.line(`${out.mark("warning")} not set yet: ${missing.join(", ")}`);
    if (example !== undefined) out.line(`try: ${example}`);
  } finally {
    await runtime.close();
  }
}

function wishesOf(options: Readonly<Record<string, unknown>>) {
  const { prefix, include, exclude, tag, baseUrl, auth } = options;
  if (baseUrl !== undefined && !(URL.canParse(String(baseUrl)) && /^https?:/i.test(String(baseUrl))))
    throw commandError("bad_request", "--base-url must be an http or https address");
  return {
    prefix: prefix === undefined ? undefined : String(prefix),
    include: Array.isArray(include) ? include.map(String) : undefined,
    exclude: Array.isArray(exclude) ? exclude.map(String) : undefined,
    tags: Array.isArray(tag) ? tag.map(String) : undefined,
    baseUrl: baseUrl === undefined ? undefined : String(baseUrl),
    auth: Array.isArray(auth) ? auth.map((one) => authFrom(String(one))) : undefined,
  };
}

function authFrom(text: string): AuthSection {
  const [type = "", first = "", second = ""] = text.split(":");
  if (type === "bearer" && first !== "") return { type, token_env: first };
  if (type === "basic" && first !== "" && second !== "")
    return { type, username_env: first, password_env: second };
  if ((type === "header" || type === "query") && first !== "" && second !== "")
    return { type, name: first, value_env: second };
  throw commandError(
    "bad_request",
    `--auth cannot be ${JSON.stringify(text)}`,
    "Write bearer:VAR, basic:USER_VAR:PASSWORD_VAR, header:NAME:VAR or query:NAME:VAR; VAR is the name of an environment variable.",
  );
}
