import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../path-guard.js";
import { type Location, locate } from "../paths.js";
import { encodeText, UTF8 } from "../text-encoding.js";
import { readSnapshot, type Snapshot } from "./snapshot.js";
import type { StrategyName } from "./strategies.js";
import { applyHunks } from "./v4a-hunks.js";
import type { PatchOperation } from "./v4a-parse.js";

/** One file's change, worked out completely and not yet made. */
export interface FileChange {
  readonly kind: "create" | "modify" | "move" | "delete";
  readonly location: Location;
  /** Where a moved file goes. */
  readonly target?: Location;
  readonly before?: Snapshot;
  readonly after?: { readonly text: string; readonly bytes: Uint8Array };
  readonly strategies: readonly StrategyName[];
}

/** Works out every change of a patch, or throws: nothing is written before all of it is known to fit. */
export async function planChanges(
  operations: readonly PatchOperation[],
  ctx: CallContext,
): Promise<readonly FileChange[]> {
  const changes = new Map<string, FileChange>();
  for (const operation of operations) {
    const change = await planOne(operation, changes, ctx);
    for (const place of [change.location, change.target]) {
      if (place === undefined) continue;
      const other = changes.get(place.real);
      const chained = other?.kind === "modify" && change.kind === "modify";
      if (other !== undefined && !chained) {
        throw invalid(
          `${place.path} appears in two parts of the patch that do not fit together.`,
          "Put all changes of one file into one section.",
        );
      }
    }
    changes.set(change.location.real, change);
    if (change.target !== undefined) changes.set(change.target.real, change);
  }
  return [...new Set(changes.values())];
}

async function planOne(
  operation: PatchOperation,
  earlier: ReadonlyMap<string, FileChange>,
  ctx: CallContext,
): Promise<FileChange> {
  const location = await openPlace(operation.path, ctx);
  if (operation.kind === "add") {
    await requireAbsent(location, ctx);
    const bytes = await encodeText(operation.content, UTF8);
    return { kind: "create", location, after: { text: operation.content, bytes }, strategies: [] };
  }
  const known = earlier.get(location.real);
  const before = known?.before ?? (await readSnapshot(location, ctx));
  if (operation.kind === "delete") return { kind: "delete", location, before, strategies: [] };

  const applied = applyHunks(known?.after?.text ?? before.text, operation.hunks);
  if (!applied.ok) throw new ToolError(`${location.path}: ${applied.message}`, { hint: applied.hint });
  const bytes = await encodeText(applied.text, before.encoding);
  const strategies = [...(known?.strategies ?? []), ...applied.strategies];
  const after = { text: applied.text, bytes };
  if (operation.moveTo === undefined) return { kind: "modify", location, before, after, strategies };
  const target = await openPlace(operation.moveTo, ctx);
  await requireAbsent(target, ctx);
  return { kind: "move", location, target, before, after, strategies };
}

async function openPlace(path: string, ctx: CallContext): Promise<Location> {
  if (path.split(/[/\\]/).includes("..")) {
    throw invalid(
      `The patch names "${path}", which climbs out of its folder with "..".`,
      'Write the path without "..".',
    );
  }
  const location = await locate(path, ctx);
  refuseDevice(location);
  return location;
}

async function requireAbsent(location: Location, ctx: CallContext): Promise<void> {
  if ((await ctx.environment.files.stat(location.real)) === undefined) return;
  throw invalid(`${location.path} exists already.`, 'Use "*** Update File:" to change it, or another name.');
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError(message, { code: "invalid_arguments", hint });
}
