import { isAtOrBelow } from "../../../base/path.js";
import { ToolError } from "../../../tool/errors.js";
import type { GitAnswer } from "../../files/git-program.js";
import { withoutPassword } from "./address.js";
import { changingWords, type GitArguments, operationOf } from "./arguments.js";
import { listBranches, listRemotes, listStashes, listTags } from "./lists.js";
import { lastCommit, type Place, status, topOf } from "./read-actions.js";
import { askGit, changeWithGit, gitFailed, mustChange } from "./run.js";

/**
 * A name inside another repository would change that one: its whole folder must be among what the call may change.
 * Answers with the place as changes may use it.
 */
export async function openedForChanges(place: Place): Promise<Place> {
  const { ctx, folder } = place;
  const { files } = ctx.environment;
  const top = await files.realpath(await topOf(place));
  const refusal =
    top === folder ? undefined : ctx.refusal({ action: "file:write", resource: top, mode: "write" });
  if (refusal !== undefined)
    throw new ToolError(`${folder} belongs to the repository ${top}, which may not be changed: ${refusal}.`, {
      code: "denied",
      hint: "Name the repository itself with repo, so that the person can be asked.",
    });
  const home = files.resolve("~", folder);
  const workspace = await files.realpath(ctx.session.workspace);
  return isAtOrBelow(top, workspace) || isAtOrBelow(home, top) ? place : { ...place, writable: [top] };
}

/** Git's settings are closed to commands in a strict boundary; these commands say all they write into them. */
async function changeSettings(words: readonly string[], place: Place): Promise<GitAnswer> {
  const { output } = await askGit({ ...place, words: ["rev-parse", "--git-common-dir"] });
  const { files } = place.ctx.environment;
  const folder = await files.realpath(files.resolve(output.trim(), place.folder));
  return changeWithGit({ ...place, words, writable: [...(place.writable ?? []), `${folder}/config`] });
}

async function mustChangeSettings(args: GitArguments, place: Place): Promise<void> {
  const { words } = changingWords(args);
  const answer = await changeSettings(words, place);
  if (!answer.ok) throw gitFailed(words, answer);
}

/** From now on the branch follows the one it was pushed to. That it cannot be written down is no failure of the push. */
export async function follow(
  { branch, remote }: { readonly branch: string; readonly remote: string },
  place: Place,
): Promise<void> {
  await changeSettings(["branch", "--quiet", `--set-upstream-to=${remote}/${branch}`, branch], place);
}

export async function add(args: GitArguments, place: Place) {
  await mustChange({ ...place, ...changingWords(args) });
  const { files, truncated } = await status({}, place);
  return {
    staged: files.filter(({ staged }) => staged).map(({ path, state }) => ({ path, state })),
    truncated,
  };
}

export async function commit(args: GitArguments, place: Place) {
  // Files that git does not know yet can be named for a commit as well.
  if ((args.paths ?? []).length > 0)
    await mustChange({ ...place, words: ["add", "--", ...(args.paths ?? [])] });
  const answer = await changeWithGit({ ...place, ...changingWords(args) });
  if (!answer.ok) throw await refusedCommit(answer, place);
  const { branch } = await status({ paths: [] }, place);
  return { branch, ...(await lastCommit(place)), ...hookWords(answer) };
}

/** What hooks have printed. */
function hookWords({ output, stderr }: GitAnswer): { readonly output?: string } {
  const said = [output.trim(), stderr].filter((part) => part !== "").join("\n");
  return said === "" ? {} : { output: said.slice(-4_000) };
}

async function refusedCommit(answer: GitAnswer, place: Place): Promise<ToolError> {
  const failed = gitFailed(["commit"], answer);
  if (failed.hint !== undefined) return failed;
  const hooks = await askGit({ ...place, words: ["rev-parse", "--git-path", "hooks"] }).catch(
    () => undefined,
  );
  const where = hooks?.output.trim();
  return new ToolError(failed.message, {
    hint: `A hook of the repository may have refused it${where === undefined ? "" : ` (${where})`}: do what it says, then commit again.`,
    details: { exit_code: answer.exitCode },
  });
}

/** Merging that stops at conflicts has done something, which is told; everything else that fails is an error. */
export async function withConflicts(
  {
    words,
    answer,
    from,
  }: { readonly words: readonly string[]; readonly answer: GitAnswer; readonly from?: string },
  place: Place,
): Promise<{ readonly conflicts: readonly string[]; readonly output: string }> {
  const { files } = await status({}, place);
  const conflicts = files.filter(({ state }) => state === "conflicted").map(({ path }) => path);
  if (!answer.ok && conflicts.length === 0) throw gitFailed(words, answer, from);
  const output = withoutPassword([answer.output.trim(), answer.stderr].filter(Boolean).join("\n"));
  return { conflicts, output: output.slice(-4_000) };
}

export async function merge(args: GitArguments, place: Place) {
  const command = changingWords(args);
  const answer = await changeWithGit({ ...place, ...command });
  if (operationOf(args) === "abort") {
    if (!answer.ok) throw gitFailed(command.words, answer);
    return { merged: false, aborted: true, conflicts: [] };
  }
  const { conflicts, output } = await withConflicts({ words: command.words, answer }, place);
  return { merged: conflicts.length === 0, conflicts, hash: await headOf(place), output };
}

export async function headOf(place: Place): Promise<string | null> {
  const answer = await askGit({ ...place, words: ["rev-parse", "--verify", "--quiet", "HEAD"] }).catch(
    () => undefined,
  );
  return answer?.output.trim() ?? null;
}

export async function checkout(args: GitArguments, place: Place) {
  await mustChange({ ...place, ...changingWords(args) });
  const { branch, hash } = await status({}, place);
  return { branch, hash, ...(args.paths !== undefined && { restored: args.paths }) };
}

export async function stash(args: GitArguments, place: Place) {
  const command = changingWords(args);
  const answer = await changeWithGit({ ...place, ...command });
  const { conflicts } = await withConflicts({ words: command.words, answer }, place);
  return { conflicts, ...(await listStashes(place)) };
}

export async function branch(args: GitArguments, place: Place) {
  await mustChangeSettings(args, place);
  return listBranches(place);
}

export async function tag(args: GitArguments, place: Place) {
  await mustChange({ ...place, ...changingWords(args) });
  return listTags(place);
}

export async function remote(args: GitArguments, place: Place) {
  await mustChangeSettings(args, place);
  return listRemotes(place);
}
