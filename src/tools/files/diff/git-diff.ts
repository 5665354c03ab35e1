import { join } from "node:path/posix";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { GIT_VARIABLES, gitCommand, runGit } from "../git-program.js";
import { isSecretFile } from "../path-guard.js";
import { throughProgram } from "../program-filter.js";
import { MAX_TEXT_BYTES } from "./compare.js";
import { countLines } from "./compare-texts.js";
import type { DiffOptions, FileDiff, Hunk } from "./types.js";

/** `HEAD~1:src/x.ts`, as git itself writes a file of a revision. */
export function readRevisionPath(
  value: string,
): { readonly revision: string; readonly path: string } | undefined {
  const match = /^([^-:\s][^:\s]*):(.+)$/.exec(value);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { revision: match[1], path: match[2] };
}

/** A file as it was in a revision; its path begins at `repo`, or at the top of the repository. */
export async function readRevision(
  { revision, path }: { readonly revision: string; readonly path: string },
  { repo, ctx }: { readonly repo: string; readonly ctx: CallContext },
): Promise<Uint8Array | undefined> {
  for (const object of [`${revision}:./${path}`, `${revision}:${path}`]) {
    const known = await runGit({ folder: repo, args: ["cat-file", "-t", object], ctx });
    if (!known.ok || known.output.trim() !== "blob") continue;
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of throughProgram({
      command: gitCommand(repo, ["cat-file", "blob", object]),
      env: GIT_VARIABLES,
      input: [],
      cwd: repo,
      ctx,
      failure: (code) => new ToolError(`git could not read ${object} (exit code ${code}).`),
    })) {
      parts.push(part);
      length += part.length;
      if (length > MAX_TEXT_BYTES) break;
    }
    return Buffer.concat(parts);
  }
  return undefined;
}

/** What changed between two revisions, or between one and the files as they are now. */
export async function compareRevisions(request: {
  readonly revisions: string;
  readonly repo: string;
  readonly paths: readonly string[];
  readonly options: DiffOptions;
  readonly ctx: CallContext;
}): Promise<readonly FileDiff[]> {
  const { revisions, repo, paths, options, ctx } = request;
  if (!/^[^-\s][^\s]*$/.test(revisions)) {
    throw new ToolError(`${JSON.stringify(revisions)} is not a revision or range of revisions.`, {
      code: "invalid_arguments",
      hint: 'For example "HEAD~1..HEAD", "main...feature", or "HEAD" for what has changed since.',
    });
  }
  const run = async (...shape: string[]) => {
    const args = [
      "diff",
      "--no-ext-diff",
      "--no-textconv",
      "--no-color",
      "--find-renames",
      "--submodule=short",
    ];
    const space = options.ignoreWhitespace ? ["--ignore-all-space"] : [];
    const answer = await runGit({
      folder: repo,
      args: [...args, "--ignore-submodules=dirty", ...space, ...shape, revisions, "--", ...paths],
      readsFiles: true,
      ctx,
    });
    if (!answer.ok) throw gitFailed(answer.stderr, { revisions, repo, exitCode: answer.exitCode });
    return answer;
  };
  const files = readRaw((await run("--raw", "-z")).output);
  const patch = await run(`--unified=${options.context}`, "--src-prefix=a/", "--dst-prefix=b/");
  const sections = patch.output.split(/^(?=diff --git )/m).filter((section) => section !== "");
  return files.map((file, index) => ({
    ...file,
    ...(isSecretFile(join(repo, file.path), { root: repo, ctx })
      ? { added: 0, removed: 0, hunks: [], note: "holds credentials, not shown" }
      : readSection(sections[index] ?? "")),
  }));
}

function gitFailed(stderr: string, call: { revisions: string; repo: string; exitCode: number }): ToolError {
  const why = stderr.split("\n")[0]?.replace(/^fatal: /, "") ?? "";
  const missing = call.exitCode === 127 || call.exitCode === 126;
  return new ToolError(
    missing ? "git is not installed there." : `git cannot compare ${call.revisions} in ${call.repo}: ${why}.`,
    {
      code: missing ? "unavailable" : "failed",
      hint: missing
        ? "Install git, or compare files and folders."
        : "Check the names with git log --oneline in the terminal.",
    },
  );
}

const STATUS: Readonly<Record<string, FileDiff["status"]>> = {
  A: "added",
  C: "added",
  D: "removed",
  R: "renamed",
};

function readRaw(output: string): { path: string; oldPath?: string; status: FileDiff["status"] }[] {
  const fields = output.split("\0");
  const files: { path: string; oldPath?: string; status: FileDiff["status"] }[] = [];
  for (let at = 0; at < fields.length; at++) {
    const letter = /^:\d+ \d+ \S+ \S+ ([A-Z])/.exec(fields[at] ?? "")?.[1];
    if (letter === undefined) continue;
    const status = STATUS[letter] ?? "modified";
    const first = fields[++at] ?? "";
    if (letter === "R" || letter === "C") files.push({ path: fields[++at] ?? "", oldPath: first, status });
    else files.push({ path: first, status });
  }
  return files;
}

function readSection(section: string): Pick<FileDiff, "added" | "removed" | "hunks" | "binary" | "note"> {
  if (/^Binary files .* differ$/m.test(section.split(/^@@ /m)[0] ?? "")) {
    return { added: 0, removed: 0, hunks: [], binary: true, note: "binary" };
  }
  const hunks: Hunk[] = [];
  for (const part of section.split(/^(?=@@ )/m).slice(1)) {
    const [head = "", ...lines] = part.replace(/\n$/, "").split("\n");
    const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head);
    if (match === null) continue;
    const [, oldStart, oldLines = "1", newStart, newLines = "1"] = match;
    // An empty side is counted from the line before it; everywhere else here from the line itself.
    hunks.push({
      oldStart: Number(oldStart) + (oldLines === "0" ? 1 : 0),
      oldLines: Number(oldLines),
      newStart: Number(newStart) + (newLines === "0" ? 1 : 0),
      newLines: Number(newLines),
      lines,
    });
  }
  return { hunks, ...countLines(hunks) };
}
