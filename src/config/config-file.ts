import { readFileSync, statSync } from "node:fs";
import { isMissing } from "../base/errno.js";
import type { Report } from "./check-value.js";
import { damageIn } from "./damaged-text.js";
import type { LastGoodStore } from "./last-good.js";
import { type Layer, type LayerEntry, mayHideRule, readLayer } from "./layer.js";
import { type ParsedFile, parseConfigText } from "./parse-yaml.js";
import { strictest } from "./restrict.js";
import { CONFIG_KEYS, type ConfigKey, findKey } from "./schema.js";
import type { ConfigFile, ConfigProblem, ConfigSource } from "./types.js";

export interface FileReading {
  readonly layers: readonly Layer[];
  readonly file: ConfigFile;
  readonly policyIncomplete: boolean;
}

/** The layers of one file, or undefined when it does not exist. Problems go to `problems`. */
export async function readConfigFile(options: {
  readonly path: string;
  readonly source: ConfigSource;
  readonly lastGood: LastGoodStore;
  readonly problems: ConfigProblem[];
}): Promise<FileReading | undefined> {
  const { path, source, lastGood, problems } = options;
  const bytes = readBytes(path);
  if (bytes === undefined) return undefined;
  const report = reporterFor({ file: path, source, problems });
  const goodText = await lastGood.read(path);
  const damage =
    bytes instanceof Error ? undefined : await damageIn({ home: lastGood.home, path, bytes, good: goodText });
  const parsed: ParsedFile =
    bytes instanceof Error
      ? { ok: false, message: `the file cannot be read: ${bytes.message}` }
      : damage?.certainty === "surely"
        ? { ok: false, message: damage.message, place: { line: damage.line, column: 1 } }
        : await parseConfigText(bytes);
  if (damage?.certainty === "perhaps") problems.push(await lastGood.keepFormer({ source, path, damage }));

  const onlyRestricts = source === "project" ? { onlyRestricts: true } : {};
  const layer = (entries: Map<string, LayerEntry>): Layer => ({
    source,
    file: path,
    entries,
    ...onlyRestricts,
  });
  if (!parsed.ok) return readBroken({ ...options, parsed, good: await readQuietly(goodText), layer });

  const found = findings(report);
  const entries = readLayer(parsed.root, found.report);
  const file: ConfigFile = { path, source, state: "read" };
  if (found.errors.length === 0) {
    if (!(bytes instanceof Error)) await lastGood.save(path, bytes.toString("utf8"));
    return { layers: [layer(entries)], file, policyIncomplete: false };
  }
  const good = await readQuietly(goodText);
  // A misspelt key must not drop the rule it used to hold, so rules stay until the file is right again.
  const kept = new Map([...(good ?? [])].filter(([path]) => isKept(findKey(path)) && !entries.has(path)));
  const layers = [layer(entries)];
  if (kept.size > 0) layers.push({ ...layer(kept), lastGood: true });
  return { layers, file, policyIncomplete: good === undefined && found.errors.some(mayHideRule) };
}

/** Not grants: whoever took them out of the file has withdrawn them, whatever else is wrong in it. */
function isKept(key: ConfigKey | undefined): boolean {
  return key?.policy === true && key.type.kind !== "grants";
}

function readBroken(broken: {
  readonly path: string;
  readonly source: ConfigSource;
  readonly problems: ConfigProblem[];
  readonly parsed: ParsedFile & { readonly ok: false };
  readonly good: Map<string, LayerEntry> | undefined;
  readonly layer: (entries: Map<string, LayerEntry>) => Layer;
}): FileReading {
  const { path, source, parsed, good, layer } = broken;
  broken.problems.push({
    severity: "error",
    source,
    message: parsed.message,
    hint: good
      ? "the last good version of this file stays in force until it is fixed"
      : "strict defaults are used in place of this file until it is fixed",
    file: path,
    line: parsed.place?.line ?? 1,
    column: parsed.place?.column ?? 1,
  });
  const written = parsed.partial ? readLayer(parsed.partial, () => {}) : new Map<string, LayerEntry>();
  const rules = new Map([...written].filter(([key]) => findKey(key)?.policy));
  // Restrictions that can still be made out count at once, even when the last good version lacks them.
  const restrictions: Layer = { ...layer(rules), onlyRestricts: true };
  if (good !== undefined) {
    return {
      layers: [{ ...layer(good), lastGood: true }, restrictions],
      file: { path, source, state: "last-good" },
      policyIncomplete: false,
    };
  }
  return {
    layers: [{ ...layer(strictDefaults()), onlyRestricts: true }, restrictions],
    file: { path, source, state: "broken" },
    policyIncomplete: true,
  };
}

/** The strictest value of every rule; as a restricting layer it can only tighten. */
function strictDefaults(): Map<string, LayerEntry> {
  const rules = (CONFIG_KEYS as readonly ConfigKey[]).filter((key) => key.policy && key.project !== "never");
  return new Map(rules.map((key) => [key.path, { value: strictest(key) }]));
}

/** Last-good copies are read without reporting: what was wrong in them was said when they were current. */
async function readQuietly(text: string | undefined): Promise<Map<string, LayerEntry> | undefined> {
  if (text === undefined) return undefined;
  const parsed = await parseConfigText(text);
  return parsed.ok ? readLayer(parsed.root, () => {}) : undefined;
}

function readBytes(path: string): Buffer | Error | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // A pipe or device would block the start for ever.
    if (!stats.isFile()) return new Error("it is not a regular file");
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}

export function reporterFor(target: {
  readonly source: ConfigSource;
  readonly file?: string | undefined;
  readonly problems: ConfigProblem[];
}): Report {
  const { source, file, problems } = target;
  return (finding) => {
    problems.push({
      severity: finding.severity,
      source,
      message: finding.message,
      key: finding.at,
      hint: finding.hint,
      file,
      ...finding.place,
    });
  };
}

function findings(report: Report): { report: Report; errors: string[] } {
  const errors: string[] = [];
  return {
    errors,
    report: (finding) => {
      if (finding.severity === "error") errors.push(finding.at);
      report(finding);
    },
  };
}
