import { resumeApproval } from "../policy/approvals/resume.js";
import { assertPerson, withApprovals } from "./approvals-store.js";
import { printResult } from "./call.js";
import type { CommandContext } from "./globals.js";
import { withSession } from "./with-session.js";

export async function run(context: CommandContext, [id = ""]: readonly string[]): Promise<void> {
  assertPerson();
  await resume(context, id);
}

/** Runs an approved call whose process is gone, here, through the whole path, once. */
export async function resume(context: CommandContext, id: string): Promise<void> {
  const { out } = context;
  await withSession(context, (_session, signal, runtime) =>
    withApprovals(context, async (store) => {
      const openSession = runtime.openSession.bind(runtime);
      const result = await resumeApproval({ store, id, openSession, signal });
      if ("ok" in result) printResult(out, result);
      else out.fail(result);
    }),
  );
}
