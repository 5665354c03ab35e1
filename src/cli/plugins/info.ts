import { visible } from "../../base/visible-text.js";
import { bundledPlugins } from "../../registry/bundled-plugins.gen.js";
import { fingerprintOf } from "../../sources/plugins/fingerprint.js";
import { findTrust } from "../../sources/plugins/trust-rows.js";
import { openStore } from "../../store/store.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { bringsLines, bringsOf, pluginNamed } from "./found.js";

/** What a plugin says about itself and what its files are; none of its code runs. */
export async function info(context: CommandContext): Promise<void> {
  const { out } = context;
  const [name = ""] = context.args;
  const bundled = bundledPlugins.find((plugin) => plugin.name === name);
  if (bundled !== undefined) {
    const { version, description, tools } = bundled;
    const on = !(await context.config()).values.plugins.disabled.includes(name);
    const value = {
      name,
      enabled: on,
      confirmed: true,
      place: "bundled",
      version,
      description,
      brings: { tools },
    };
    return out.result(
      value,
      [
        `${name} ${version}`,
        description,
        "",
        `state        ${on ? "enabled" : "not enabled"}, it comes with the package`,
        `brings       tools: ${tools.join(", ")}`,
      ].join("\n"),
    );
  }
  const { plugin, config } = await pluginNamed(context, name);
  const { manifest, folder, place, problems } = plugin;
  const print = await fingerprintOf(folder).catch((error: unknown) => describeThrown(error).message);
  const store = await openStore({ path: config.paths.stateDb });
  const trust = findTrust(store, plugin);
  await store.close();
  const files = typeof print === "string" ? [] : print.files;
  const fingerprint = typeof print === "string" ? undefined : print.hash;
  const confirmed = trust !== undefined && (trust.dev || trust.fingerprint === fingerprint);
  const { enabled, disabled } = config.values.plugins;
  const isEnabled = enabled.includes(name) && !disabled.includes(name);
  const wrong = typeof print === "string" ? [...problems, print] : problems;
  if (out.json)
    return out.value({
      name,
      enabled: isEnabled,
      confirmed,
      dev: trust?.dev === true,
      place,
      folder,
      package: plugin.package,
      manifest_file: plugin.manifestFile,
      ...(manifest !== undefined && {
        version: manifest.version,
        description: manifest.description,
        author: manifest.author,
        brings: bringsOf(manifest),
        guards_calls: manifest.closedHooks.length > 0,
        requires_env: manifest.requiresEnv,
        capabilities: manifest.capabilities,
        timeout: manifest.timeoutSeconds,
      }),
      main: plugin.main ?? null,
      fingerprint: fingerprint ?? null,
      files,
      problems: wrong,
    });
  out.line(visible(`${name} ${manifest?.version ?? ""}`.trim()));
  if (manifest?.description) out.line(visible(manifest.description));
  out.line();
  out.line(`state        ${isEnabled ? "enabled" : "not enabled"}, ${confirmedText(trust, confirmed)}`);
  out.line(visible(`place        ${place} ${folder}`));
  if (manifest !== undefined) {
    if (manifest.author !== "") out.line(visible(`author       ${manifest.author}`));
    for (const line of bringsLines(manifest)) out.line(`brings       ${line}`);
    out.line(`needs        ${manifest.requiresEnv.join(", ") || "no variables"}`);
    out.line(`may ask for  ${manifest.capabilities.join(", ") || "no permissions"}`);
  }
  if (fingerprint !== undefined) out.line(`fingerprint  ${fingerprint}`);
  for (const { path, bytes } of files) out.line(out.color.dim(visible(`  ${path} (${bytes} bytes)`)));
  for (const problem of wrong) out.line(`${out.mark("error")} ${visible(problem)}`);
}

function confirmedText(trust: { readonly dev: boolean } | undefined, confirmed: boolean): string {
  if (trust === undefined) return "its files were never confirmed";
  if (trust.dev) return "changes of its files are trusted (--dev)";
  return confirmed
    ? "its files are as they were confirmed"
    : "its files have changed since they were confirmed";
}
