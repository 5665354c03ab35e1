import { isRecord } from "../../../base/record.js";
import { columns, mark, markDiff } from "../../../tool/marked-text.js";

type Row = Readonly<Record<string, unknown>>;

/** The answer as a person would want to see it; what has no form of its own is told as fields. */
export function humanText(out: Row): string {
  const parts = [
    headOf(out),
    ...LISTS.flatMap(({ field, row }) => {
      const rows = rowsIn(out[field]);
      return rows.length === 0 ? [] : [columns(rows.map(row))];
    }),
    typeof out.diff === "string" && out.diff !== "" ? markDiff(out.diff.trimEnd()) : "",
    textIn(out, "content"),
    conflictsOf(out),
    textIn(out, "output"),
    out.note === undefined ? "" : mark.warning(String(out.note)),
    out.truncated === true ? mark.dim("there is more than is shown") : "",
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function headOf(out: Row): string {
  if (isRecord(out.commit)) return commitText(out.commit);
  const { branch, upstream, ahead, behind, hash, message, clean } = out;
  const words = [
    typeof branch === "string" ? mark.strong(branch) : "",
    typeof upstream === "string" ? mark.dim(`→ ${upstream}`) : "",
    Number(ahead) > 0 ? `ahead ${ahead}` : "",
    Number(behind) > 0 ? `behind ${behind}` : "",
    typeof hash === "string" ? mark.dim(hash.slice(0, 10)) : "",
    typeof message === "string" ? firstLine(message) : "",
    clean === true ? mark.good("nothing to commit") : "",
    typeof out.url === "string" ? mark.path(out.url) : "",
    out.updated === false ? mark.good("up to date") : "",
    out.updated === true ? `${shortHash(out.from)}..${shortHash(out.to)}` : "",
  ].filter((word) => word !== "");
  return words.length === 0 ? mark.dim(`${out.action} ${out.repo}`) : words.join("  ");
}

function shortHash(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 10) : "";
}

function commitText(commit: Row): string {
  const head = `${mark.strong(String(commit.hash).slice(0, 10))}  ${commit.author}  ${mark.dim(String(commit.date))}`;
  return `${head}\n${String(commit.message)}`;
}

function conflictsOf({ conflicts }: Row): string {
  const paths = Array.isArray(conflicts) ? conflicts.map(String) : [];
  return paths.length === 0 ? "" : mark.bad(`conflicts: ${paths.join(", ")}`);
}

interface ShownList {
  readonly field: string;
  row(row: Row): readonly string[];
}

const short = (value: unknown) => mark.dim(String(value ?? "").slice(0, 10));
const firstLine = (value: unknown) => String(value ?? "").split("\n", 1)[0] ?? "";

const LISTS: readonly ShownList[] = [
  {
    field: "files",
    row: ({ path, state, staged, added, removed }) =>
      state === undefined
        ? [mark.added(`+${added}`), mark.removed(`-${removed}`), String(path)]
        : [staged === true ? mark.good(String(state)) : mark.warning(String(state)), String(path)],
  },
  { field: "staged", row: ({ path, state }) => [mark.good(String(state)), String(path)] },
  {
    field: "commits",
    row: ({ hash, date, author, message }) => [
      short(hash),
      mark.dim(String(date).slice(0, 10)),
      String(author),
      firstLine(message),
    ],
  },
  {
    field: "lines",
    row: ({ hash, author, date, line, text }) => [
      short(hash),
      String(author),
      mark.dim(String(date).slice(0, 10)),
      String(line),
      String(text),
    ],
  },
  {
    field: "branches",
    row: ({ name, current, hash, subject }) => [
      current === true ? mark.good(`* ${name}`) : `  ${name}`,
      short(hash),
      String(subject),
    ],
  },
  {
    field: "tags",
    row: ({ name, hash, subject }) => [mark.strong(String(name)), short(hash), String(subject)],
  },
  { field: "stashes", row: ({ ref, message }) => [mark.strong(String(ref)), String(message)] },
  { field: "remotes", row: ({ name, fetch }) => [mark.strong(String(name)), mark.path(String(fetch ?? ""))] },
  { field: "updated", row: ({ ref, to }) => [String(ref), short(to)] },
  { field: "refs", row: ({ to, state, summary }) => [String(to), String(state), mark.dim(String(summary))] },
];

function rowsIn(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textIn(out: Row, field: string): string {
  const value = out[field];
  return typeof value === "string" ? value.trimEnd() : "";
}
