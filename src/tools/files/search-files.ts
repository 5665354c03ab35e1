import { basename, dirname, join, relative } from "node:path";
import { sha256 } from "../../base/hash.js";
import { isAtOrBelow } from "../../base/path.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, type Location, locate } from "./paths.js";
import { isCounted, trackerOf } from "./read-tracker.js";
import { searchWithGrep } from "./search/fallback.js";
import { globMatcher } from "./search/globs.js";
import { humanView, type SearchView } from "./search/human-view.js";
import { groupedText, withContext } from "./search/matches.js";
import { type NameFindings, searchNames } from "./search/names.js";
import { totalOf } from "./search/pages.js";
import { searchWithRipgrep } from "./search/ripgrep.js";
import type { ContentQuery, Page, SearchRoot } from "./search/types.js";
import { visibleIn } from "./search/visibility.js";
import { similarNames } from "./similar-names.js";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const MAX_CONTEXT = 20;
/** From this many matches on, a model gets them grouped by file instead of as a list of objects. */
const GROUPED_FROM = 5;

interface SearchResult extends SearchView {
  readonly success: true;
  readonly status: "success";
  readonly environment: string;
  readonly path: string;
  readonly truncated: boolean;
  /** Of target files. */
  readonly sorted_by?: NameFindings["sortedBy"];
}

export default defineTool({
  name: "search_files",
  aliases: ["file_search"],
  toolset: "file",
  emoji: "🔎",
  description:
    "Search file contents by regular expression, or with target files find files by name: a glob such as *.ts, " +
    "part of a name, or with fuzzy an abbreviation. Skips what git ignores.",
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string" },
      target: { type: "string", enum: ["content", "files", "grep", "find"], default: "content" },
      path: { type: "string", default: ".", description: "Folder or file." },
      file_glob: { type: "string", description: "E.g. *.py, src/**/*.ts or *.js,!*.min.js." },
      limit: { type: "number", default: DEFAULT_LIMIT },
      offset: { type: "number", default: 0 },
      output_mode: { type: "string", enum: ["content", "files_only", "count"], default: "content" },
      context: { type: "number", default: 0, description: "Lines around each match." },
      fuzzy: { type: "boolean", default: false },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  permissions: ["file:read"],
  idempotent: true,
  aliasArguments: {
    file_search: ({ query, ...args }) => ({
      target: "files",
      fuzzy: true,
      ...(query !== undefined && { pattern: query }),
      ...args,
    }),
  },

  effects: ({ path }, scope) => [
    { action: "file:read", resource: absolutePath(path, scope), mode: "read", reversible: true },
  ],

  async handler(args, ctx): Promise<SearchResult> {
    if (args.pattern === "") {
      throw new ToolError("The pattern is empty.", {
        code: "invalid_arguments",
        hint: "Say what to look for.",
      });
    }
    const page = {
      offset: clamp(args.offset, { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
      limit: clamp(args.limit, { fallback: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT }),
    };
    const location = await locate(args.path, ctx);
    const root = await openRoot(location, ctx);
    const isVisible = visibleIn(root, ctx);
    const common = { pattern: args.pattern, root, fileGlob: args.file_glob, page };
    const byName = args.target === "files" || args.target === "find";
    const paging = { root, page, ctx };
    const found = byName
      ? namesResult(await searchNames({ ...common, fuzzy: args.fuzzy, isVisible }, ctx), paging)
      : await contentResult(
          {
            ...common,
            mode: args.output_mode,
            context: clamp(args.context, { fallback: 0, min: 0, max: MAX_CONTEXT }),
            accepts: await acceptedBy(args.file_glob, isVisible),
          },
          paging,
        );
    const result: SearchResult = {
      success: true,
      status: "success",
      environment: ctx.environment.name,
      path: location.path,
      ...found,
    };
    return withRepeatWarning(result, JSON.stringify(args), ctx);
  },

  present(out) {
    const { matches, ...rest } = out;
    const plain = matches?.map(({ spans: _spans, ...match }) => match);
    const model =
      matches === undefined || plain === undefined || matches.length < GROUPED_FROM
        ? { ...rest, matches: plain }
        : { ...rest, matches_format: "grouped by file, line: text", matches: groupedText(matches) };
    return { model: [text(JSON.stringify(model))], human: humanView(out) };
  },

  examples: [
    {
      title: "Find where a function is defined",
      files: {
        "src/prices.ts":
          "export function total(prices: number[]) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
        "src/main.ts": 'import { total } from "./prices.js";\nconsole.log(total([1, 2]));\n',
        "notes.md": "function total is slow\n",
      },
      arguments: { pattern: String.raw`function\s+total\b`, file_glob: "*.ts" },
      result: {
        matches: [{ path: "src/prices.ts", line: 1, content: "export function total(prices: number[]) {" }],
        total_count: 1,
        truncated: false,
      },
    },
    {
      title: "Count how often something is used, file by file",
      files: { "a.py": "log(1)\nlog(2)\n", "lib/b.py": "log(3)\n", "lib/c.py": "print(4)\n" },
      arguments: { pattern: String.raw`\blog\(`, output_mode: "count" },
      result: { counts: { "a.py": 2, "lib/b.py": 1 }, total_count: 2 },
    },
    {
      title: "Find a file of which only an abbreviation is remembered",
      files: {
        "src/tools/read-file.ts": "",
        "src/tools/read-folder.ts": "",
        "docs/reference.md": "",
      },
      arguments: { pattern: "tools rdfile", target: "files", fuzzy: true, limit: 1 },
      result: { files: ["src/tools/read-file.ts"], sorted_by: "resemblance" },
    },
  ],
});

interface Paging {
  readonly root: SearchRoot;
  readonly page: Page;
  readonly ctx: CallContext;
}

type Found = Omit<SearchResult, "success" | "status" | "environment" | "path">;

async function acceptedBy(
  glob: string | undefined,
  isVisible: (path: string) => boolean,
): Promise<(path: string) => boolean> {
  if (glob === undefined) return isVisible;
  const fits = await globMatcher(glob);
  return (path) => fits(path) && isVisible(path);
}

function namesResult({ files, total, sortedBy }: NameFindings, { root, page, ctx }: Paging): Found {
  const { hint, ...counted } = totals({ shown: files.length, total, partial: false, page });
  const order = sortedBy === "path" ? "Too many to sort by age: in order of path." : undefined;
  const hints = [hint, order].filter((part) => part !== undefined);
  return {
    files: files.map((name) => shownPath(name, root, ctx)),
    sorted_by: sortedBy,
    ...counted,
    ...(hints.length > 0 && { hint: hints.join(" ") }),
  };
}

async function contentResult(query: ContentQuery, { root, page, ctx }: Paging): Promise<Found> {
  const findings = (await searchWithRipgrep(query, ctx)) ?? (await searchWithGrep(query, ctx));
  const { counts, partial } = findings;
  const warning = findings.warning === undefined ? {} : { _warning: findings.warning };
  if (query.mode === "content") {
    const first = page.offset - findings.skipped;
    const matches = withContext(findings.lines, query.context)
      .slice(first, first + page.limit)
      .map((match) => ({ ...match, path: shownPath(match.path, root, ctx) }));
    return {
      matches,
      ...totals({ shown: matches.length, total: totalOf(counts), partial, page }),
      ...warning,
    };
  }
  const shown = counts
    .slice(page.offset, page.offset + page.limit)
    .map(({ path, count }) => [shownPath(path, root, ctx), count] as const);
  const rest = { ...totals({ shown: shown.length, total: counts.length, partial, page }), ...warning };
  return query.mode === "files_only"
    ? { files: shown.map(([path]) => path), ...rest }
    : { counts: Object.fromEntries(shown), ...rest };
}

function totals(state: { shown: number; total: number; partial: boolean; page: Page }): Omit<Found, "files"> {
  const { shown, total, partial, page } = state;
  const next = page.offset + shown;
  const truncated = partial || next < total;
  const count = `${total}${partial ? "+" : ""}`;
  const hint =
    shown === 0 && total > 0
      ? `offset=${page.offset} is behind the end; there are ${count} results.`
      : truncated && shown > 0
        ? `Results ${page.offset + 1}–${next} of ${count}; continue with offset=${next}.`
        : total === 0
          ? "Nothing found. Files ignored by git are not searched; name such a folder as path to search it."
          : undefined;
  return {
    total_count: total,
    ...(partial && { total_count_is_lower_bound: true as const }),
    truncated,
    hint,
  };
}

async function openRoot(location: Location, ctx: CallContext): Promise<SearchRoot> {
  refuseDevice(location);
  const stat = await ctx.environment.files.stat(location.real);
  if (stat === undefined) {
    const similar = await similarNames(location.path, ctx);
    throw new ToolError(`${location.path} does not exist.`, {
      hint: similar.length > 0 ? `Similar names: ${similar.join(", ")}` : "Search from a folder that exists.",
      details: { path: location.path, similar_files: similar },
    });
  }
  const begun = location.real;
  if (stat.type === "directory") return { folder: location.path, real: begun, begun, operand: "." };
  if (stat.type !== "file") {
    throw new ToolError(`${location.path} is neither a folder nor a regular file.`, {
      code: "invalid_arguments",
    });
  }
  const folder = dirname(location.path);
  return {
    folder,
    real: await ctx.environment.files.realpath(folder),
    begun,
    operand: `./${basename(location.path)}`,
  };
}

/** Relative to the working directory where that is shorter; either way read_file takes it as it is. */
function shownPath(path: string, root: SearchRoot, ctx: CallContext): string {
  const absolute = join(root.folder, path);
  return isAtOrBelow(absolute, ctx.session.cwd) ? relative(ctx.session.cwd, absolute) : absolute;
}

function withRepeatWarning(result: SearchResult, key: string, ctx: CallContext): SearchResult {
  const hash = sha256(JSON.stringify(result), "base64");
  const count = isCounted(ctx) ? trackerOf(ctx).countSearch(key, hash) : 1;
  if (count >= 4) {
    throw new ToolError(`BLOCKED: this search was made ${count} times in a row with the same result.`, {
      code: "blocked",
      hint: "Use the earlier result, or change pattern, path or offset.",
    });
  }
  return count === 3
    ? { ...result, _warning: "Third identical search. The next one will be blocked." }
    : result;
}

function clamp(value: unknown, range: { fallback: number; min: number; max: number }): number {
  if (typeof value !== "number" || Number.isNaN(value)) return range.fallback;
  return Math.min(range.max, Math.max(range.min, Math.floor(value)));
}
