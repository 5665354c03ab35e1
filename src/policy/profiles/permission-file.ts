import { readFileSync, statSync } from "node:fs";
import { messageOf } from "../../base/errno.js";
import { damageIn } from "../../config/damaged-text.js";
import type { LastGoodStore } from "../../config/last-good.js";
import type { MapNode } from "../../config/node.js";
import { parseConfigText } from "../../config/parse-yaml.js";
import type { ConfigProblem } from "../../config/types.js";
import { builtInProfiles } from "./builtin.js";
import { flattenProfiles } from "./flatten.js";
import type { RuleLayer } from "./permission-table.js";
import type { RuleFinding } from "./read-fields.js";
import { readRules } from "./read-rules.js";
import type { PermissionSource, WrittenRules } from "./types.js";

export interface PermissionFile {
  readonly layers: readonly RuleLayer[];
  readonly problems: readonly ConfigProblem[];
  /** Why nothing may be touched until the file is mended. */
  readonly broken?: string;
}

interface FileOptions {
  readonly path: string;
  readonly source: PermissionSource;
  readonly lastGood: LastGoodStore;
  /** Layers read before this one; its profiles may extend theirs. */
  readonly known: readonly RuleLayer[];
}

interface Reading {
  readonly rules: WrittenRules | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** One file with its problems. Whatever is wrong with it, the rules are never looser than what it says. */
export async function readPermissionFile(options: FileOptions): Promise<PermissionFile> {
  const { path, source, lastGood } = options;
  const text = readText(path);
  const good = await lastGood.read(path);
  const damage =
    text instanceof Error
      ? undefined
      : await damageIn({ home: lastGood.home, path, bytes: Buffer.from(text), good });
  const reading =
    text instanceof Error
      ? { rules: undefined, problems: [problemOf(options, { message: text.message })] }
      : damage?.certainty === "surely"
        ? {
            rules: undefined,
            problems: [
              problemOf(options, { message: damage.message, place: { line: damage.line, column: 1 } }),
            ],
          }
        : await readRulesText(text, options);
  const onlyRestricts = source === "project";
  const asLayer = (rules: WrittenRules, restricts: boolean): RuleLayer => ({
    ...rules,
    source,
    file: path,
    ...(restricts && { onlyRestricts: true }),
  });
  const failed = reading.problems.find(({ severity }) => severity === "error");
  if (failed === undefined && reading.rules !== undefined) {
    const shorter =
      damage === undefined
        ? []
        : [await lastGood.keepFormer({ source: configSourceOf(source), path, damage })];
    if (typeof text === "string") await lastGood.save(path, text);
    return {
      layers: [asLayer(reading.rules, onlyRestricts)],
      problems: [
        ...reading.problems,
        ...shorter,
        ...(onlyRestricts ? problemsOfProjectRules(reading.rules) : []),
      ],
    };
  }
  const former = good === undefined ? undefined : (await readRulesText(good, options)).rules;
  const hint =
    former === undefined
      ? "nothing is allowed until it is mended, for what it forbids is not known"
      : "the last good version of this file stays in force until it is mended";
  const problems = [
    ...reading.problems,
    problemOf(options, { message: "these permissions cannot be used", hint }),
  ];
  if (former !== undefined) {
    const rest = reading.rules === undefined ? [] : [asLayer(reading.rules, true)];
    return { layers: [asLayer(former, onlyRestricts), ...rest], problems };
  }
  const place = failed?.line === undefined ? path : `${path}:${failed.line}`;
  return {
    layers: reading.rules === undefined ? [] : [asLayer(reading.rules, onlyRestricts)],
    problems,
    broken: `The permissions in ${place} cannot be understood, so nothing is allowed until they are mended`,
  };
}

/** Rules that no file holds yet; what cannot be read of them is told and left out. */
export async function readPermissionText(
  text: string,
  file: string,
  report: (finding: RuleFinding) => void = () => undefined,
): Promise<WrittenRules> {
  const parsed = await parseConfigText(text);
  if (!parsed.ok) report({ severity: "error", message: parsed.message, place: parsed.place });
  return readRules(parsed.ok ? parsed.root : { kind: "map", entries: [] }, { file, report });
}

async function readRulesText(text: string, options: FileOptions): Promise<Reading> {
  const parsed = await parseConfigText(text);
  const problems: ConfigProblem[] = [];
  const report = (finding: RuleFinding) => void problems.push(problemOf(options, finding));
  const read = (root: MapNode) => readRules(root, { file: options.path, report });
  if (parsed.ok) {
    const rules = read(parsed.root);
    problems.push(...unextendable(rules, options));
    return { rules, problems };
  }
  const rules = parsed.partial === undefined ? undefined : read(parsed.partial);
  const { message, place } = parsed;
  return { rules, problems: [problemOf(options, { message, place: place ?? { line: 1, column: 1 } })] };
}

/** A profile that extends what is not there would silently be missing. */
function unextendable(rules: WrittenRules, { source, known }: FileOptions): readonly ConfigProblem[] {
  if (source === "project") return [];
  const problems: ConfigProblem[] = [];
  const below = known.flatMap((layer) => (layer.onlyRestricts === true ? [] : layer.profiles));
  flattenProfiles(
    [
      ...builtInProfiles().map((profile) => ({ profile, source: "builtin" as const })),
      ...[...below, ...rules.profiles].map((profile) => ({ profile, source })),
    ],
    (problem) => problems.push(problem),
  );
  return problems;
}

/** Said once, with the line: a project's file looks like any other, but gives nothing. */
function problemsOfProjectRules(rules: WrittenRules): readonly ConfigProblem[] {
  const giving = [rules.global, ...rules.profiles].flatMap(({ allow, tools }) => [
    ...allow.map(({ text, origin }) => ({ what: `allow ${text}`, origin })),
    ...tools.flatMap(({ tool, answer, origin }) =>
      answer === "allow" ? { what: `allow tool ${tool}`, origin } : [],
    ),
  ]);
  return giving.map(({ what, origin }) => ({
    severity: "warning",
    source: "project",
    message: `a project file may only restrict; "${what}" is ignored`,
    hint: "write it into the hermes_permissions.yaml of your Hermes home",
    file: origin.file,
    line: origin.line,
  }));
}

function problemOf({ path, source }: FileOptions, finding: Partial<RuleFinding>): ConfigProblem {
  return {
    severity: finding.severity ?? "error",
    source: configSourceOf(source),
    message: finding.message ?? "",
    hint: finding.hint,
    file: path,
    line: finding.place?.line,
    column: finding.place?.column,
  };
}

function configSourceOf(source: PermissionSource): ConfigProblem["source"] {
  return source === "builtin" ? "default" : source;
}

function readText(path: string): string | Error {
  try {
    // A pipe or device would block the start for ever.
    if (!statSync(path).isFile()) return new Error("it is not a regular file");
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    return new Error(`the file cannot be read: ${messageOf(error)}`);
  }
}
