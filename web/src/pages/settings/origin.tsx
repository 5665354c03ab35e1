import type { Setting } from "../../api/types.js";
import { visibleLine } from "../../lib/visible.js";
import { Chip } from "../../ui/bits.js";

const WORDS: Readonly<Record<string, string>> = {
  default: "default",
  user: "yours",
  home: "yours",
  project: "of the project",
  managed: "of the administrator",
  env: "variable",
  dotenv: "variable",
  flag: "flag",
};

/** Where a value comes from. */
export function OriginChip({ origin }: { readonly origin: Setting["origin"] }) {
  const file =
    origin.file === undefined
      ? undefined
      : `${origin.file.split("/").at(-1)}${origin.line === undefined ? "" : `:${origin.line}`}`;
  const where = origin.name ?? file;
  const word = WORDS[origin.source] ?? origin.source;
  return (
    <Chip mono={where !== undefined} title={visibleLine(origin.file ?? word)}>
      {visibleLine(where === undefined ? word : `${where}`)}
      {origin.lastGood === true && " (last good version)"}
    </Chip>
  );
}
