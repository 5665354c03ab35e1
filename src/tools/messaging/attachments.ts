import { basename } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { refuseDevice } from "../files/path-guard.js";
import { locate } from "../files/paths.js";

/** Few servers take more, and a third comes on top on the way. */
const MAX_ATTACHED_BYTES = 25 * 1024 * 1024;

export interface Attached {
  readonly path: string;
  readonly filename: string;
  readonly content: Buffer;
}

/** Files that a call has named: nothing else ever leaves with a message. */
export async function readAttachments(
  paths: readonly string[],
  ctx: CallContext,
): Promise<readonly Attached[]> {
  const { files } = ctx.environment;
  const read: Attached[] = [];
  let room = MAX_ATTACHED_BYTES;
  for (const named of paths) {
    const location = await locate(named, ctx);
    refuseDevice(location);
    const stat = await files.stat(location.real);
    if (stat?.type !== "file") {
      throw new ToolError(
        `Nothing was sent: ${location.path} ${stat === undefined ? "does not exist" : "is not a file"}.`,
        { code: "invalid_arguments", hint: "Name a file; pack a folder with file_compress first." },
      );
    }
    room -= stat.size;
    if (room < 0) {
      throw new ToolError(
        `Nothing was sent: the attachments are larger than ${MAX_ATTACHED_BYTES >> 20} MiB.`,
        {
          code: "invalid_arguments",
          hint: "Send fewer or smaller files, or put them where the recipient can fetch them.",
        },
      );
    }
    const content = await files.read(location.real, { real: true });
    read.push({ path: location.path, filename: basename(location.path), content: Buffer.from(content) });
  }
  return read;
}
