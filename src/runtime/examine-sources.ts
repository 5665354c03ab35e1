import type { SourceStatus } from "../sources/types.js";
import type { Finding } from "./doctor.js";
import type { Runtime } from "./runtime.js";

/** Kinds that `doctor` speaks of elsewhere, in more detail. */
const TOLD_ELSEWHERE = /^(?:mcp|module):/;

/** YAML files and plugins: what they bring, what keeps them from it, and what was left out. */
export function examineSources({ sources }: Runtime): readonly Finding[] {
  return sources
    .status()
    .filter(({ source, state }) => !TOLD_ELSEWHERE.test(source) && state !== "disabled")
    .flatMap(findingsOf);
}

function findingsOf({ source, state, tools, reason, fix, quarantined }: SourceStatus): readonly Finding[] {
  const group = "Tools";
  const why = reason === undefined ? "" : `: ${reason}`;
  return [
    {
      group,
      level: state === "ready" ? "ok" : "warning",
      what: `${source.replace(":", " ")}: ${tools.length} tools${why}`,
      ...(fix !== undefined && { fix }),
    },
    ...quarantined.map(
      ({ name, reason: cause }): Finding => ({
        group,
        level: "warning",
        what: `${name} is left out: ${cause}`,
      }),
    ),
  ];
}
