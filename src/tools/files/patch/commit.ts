import { messageOf } from "../../../base/errno.js";
import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { trackerOf } from "../read-tracker.js";
import { type Verification, writeVerified } from "../write-verified.js";
import type { FileChange } from "./plan.js";
import type { Snapshot } from "./snapshot.js";

type Undo = () => Promise<unknown>;

// Deleting comes last: it is the step that is hardest to take back.
const ORDER: Readonly<Record<FileChange["kind"], number>> = { create: 0, modify: 1, move: 2, delete: 3 };

/** A patch is checked as well as its least checked file. */
const TRUST: readonly (Verification | undefined)[] = [undefined, "inode", "sha256", "size", "overtaken"];

/** Makes all changes of a plan. When one fails, those made before are taken back. */
export async function commitChanges(
  changes: readonly FileChange[],
  ctx: CallContext,
): Promise<Verification | undefined> {
  const undo: Undo[] = [];
  let verified: Verification | undefined;
  const ordered = [...changes].sort((left, right) => ORDER[left.kind] - ORDER[right.kind]);
  for (const change of ordered) {
    try {
      const seen = await commitOne(change, ctx, undo);
      if (TRUST.indexOf(seen) > TRUST.indexOf(verified)) verified = seen;
    } catch (error) {
      await takeBack(undo, error);
      throw error;
    }
  }
  return verified;
}

/** Answers how what was written has been checked; undefined when nothing was. */
async function commitOne(
  change: FileChange,
  ctx: CallContext,
  undo: Undo[],
): Promise<Verification | undefined> {
  const { location, target, before, after } = change;
  const { files } = ctx.environment;
  if (change.kind === "create" && after !== undefined) {
    const written = await writeVerified({
      real: location.real,
      bytes: after.bytes,
      ctx,
      expected: { sha256: undefined },
    });
    undo.push(() => removeUnchanged(location.real, after.bytes, ctx));
    return written.verified;
  }
  if (change.kind === "modify" && before !== undefined && after !== undefined) {
    if (after.text === before.text) return undefined;
    return await replaceContent({ real: location.real, from: before, to: after.bytes, ctx, undo });
  }
  if (change.kind === "move" && target !== undefined && before !== undefined && after !== undefined) {
    await requireUnchanged(change, ctx);
    await files.rename(location.path, target.real);
    trackerOf(ctx).noteWritten(location.real, undefined);
    undo.push(() => files.rename(target.real, location.path));
    if (after.text === before.text) return undefined;
    return await replaceContent({ real: target.real, from: before, to: after.bytes, ctx, undo });
  }
  if (change.kind === "delete" && before !== undefined) {
    await requireUnchanged(change, ctx);
    await files.remove(location.path);
    trackerOf(ctx).noteWritten(location.real, undefined);
    undo.push(() => files.write(location.path, before.bytes, { expected: { sha256: undefined } }));
  }
  return undefined;
}

async function replaceContent(edit: {
  real: string;
  from: Snapshot;
  to: Uint8Array;
  ctx: CallContext;
  undo: Undo[];
}): Promise<Verification> {
  const { real, from, to, ctx, undo } = edit;
  const { verified } = await writeVerified({ real, bytes: to, ctx, expected: { sha256: from.sha256 } });
  undo.push(() => ctx.environment.files.write(real, from.bytes, { expected: { sha256: sha256(to) } }));
  return verified;
}

/** Moving and deleting have no compare-and-swap of their own; this narrows the gap to one call. */
async function requireUnchanged({ location, before }: FileChange, ctx: CallContext): Promise<void> {
  if (before !== undefined && sha256(await ctx.environment.files.read(location.real)) === before.sha256)
    return;
  throw new ToolError(`${location.path} changed while the patch was being applied.`, {
    hint: "Read the file again and repeat the change on what it holds now.",
    details: { conflict: true, path: location.path },
  });
}

async function removeUnchanged(real: string, written: Uint8Array, ctx: CallContext): Promise<void> {
  if (sha256(await ctx.environment.files.read(real)) === sha256(written))
    await ctx.environment.files.remove(real);
}

async function takeBack(undo: readonly Undo[], cause: unknown): Promise<void> {
  const failures: string[] = [];
  for (const step of [...undo].reverse()) {
    await step().catch((error: unknown) => failures.push(messageOf(error)));
  }
  if (failures.length === 0) return;
  throw new ToolError(
    `The patch failed half-way (${messageOf(cause)}) and could not be taken back completely: ${failures.join("; ")}`,
    { hint: "Read the files of the patch and repair them by hand.", cause },
  );
}
