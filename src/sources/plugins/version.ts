import { sha256 } from "../../base/hash.js";
import type { LoadedConfig } from "../../config/types.js";
import { type Fingerprint, fingerprintOf } from "./fingerprint.js";
import { type FoundPlugin, readPlugin } from "./read-plugin.js";

/** What code is made of. Other files may be data that the plugin itself writes. */
const CODE_FILE = /\.(?:[cm]?[jt]s|json|ya?ml)$/i;

/** Everything that a run of `register` depends on. */
export function versionOf(made: {
  readonly fingerprint: Fingerprint;
  readonly manifest: { readonly name: string; readonly requiresEnv: readonly string[] };
  readonly config: LoadedConfig;
  /** Changes of the folder are trusted: then only those of code make another version. */
  readonly dev: boolean;
}): string {
  const { fingerprint, manifest, config } = made;
  const settings = config.values.tool_settings[manifest.name];
  const env = manifest.requiresEnv.map((name) => config.env[name]);
  const files = made.dev ? codeOf(fingerprint) : fingerprint.hash;
  return sha256(JSON.stringify([files, settings, env]));
}

/** Whether manifest and code are still what was looked at before the code ran. */
export async function isSame(plugin: FoundPlugin, fingerprint: Fingerprint): Promise<boolean> {
  const now = await Promise.all([readPlugin(plugin), fingerprintOf(plugin.folder)]).catch(() => undefined);
  return (
    now !== undefined &&
    JSON.stringify(now[0].manifest) === JSON.stringify(plugin.manifest) &&
    JSON.stringify(codeOf(now[1])) === JSON.stringify(codeOf(fingerprint))
  );
}

function codeOf({ contents }: Fingerprint): readonly (readonly [string, string])[] {
  return [...contents].filter(([path]) => CODE_FILE.test(path));
}
