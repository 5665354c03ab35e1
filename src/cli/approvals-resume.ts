import { resumeApproval } from "../policy/approvals/resume.js";
import { textOf } from "../tool/content.js";
import { assertPerson, withApprovals } from "./approvals-store.js";
import type { CommandContext } from "./globals.js";
import { calm } from "./visible-text.js";
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
      if (!("ok" in result)) {
        out.fail(result);
        return;
      }
      const text = textOf(result.content);
      if (out.json) out.value(out.jsonl ? { type: "result", ...result } : result);
      else if (result.ok) out.line(process.stdout.isTTY ? calm(text) : text);
      for (const notice of result.notices ?? []) out.note(notice);
      if (result.error !== undefined) out.fail(result.error);
    }),
  );
}
