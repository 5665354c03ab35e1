import { setTimeout as pause } from "node:timers/promises";
import { visible } from "../../base/visible-text.js";
import type { ApprovalAnswer } from "../../call/scope.js";
import { type ApprovalRecord, type ApprovalStatus, publicRecord } from "../../policy/approvals/record.js";
import { isRefused, unknownId } from "../../policy/approvals/refusal.js";
import { resumeApproval } from "../../policy/approvals/resume.js";
import type { ApprovalStore } from "../../policy/approvals/store.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson, localPerson } from "../person.js";
import { withSession } from "../session/with-session.js";
import { withApprovals } from "./store.js";

export async function approve(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const [id = ""] = context.args;
  assertPerson();
  const answer = answerFrom(options);
  const approved = await withApprovals(context, async (store) => {
    const record = store.find(id);
    if (record === undefined) return unknownId(id);
    // Already approved, and only left to be run: saying it twice is no mistake then.
    if (options.resume === true && record.status === "approved") return record;
    const hash = typeof options.hash === "string" ? options.hash : record.hash;
    const widen = options.widen === true;
    const given = await store.answer({ id, hash, answer, by: localPerson(), widen });
    if (isRefused(given) || options.resume === true) return given;
    const status = await outcomeOf(given, store);
    if (out.json) {
      const ownerAlive = store.isOwnerAlive(given);
      out.value({ ...publicRecord(given, { ownerAlive }), status });
    }
    return { ...given, status };
  });
  if (isRefused(approved)) return out.fail(approved);
  out.line(`${out.mark("ok")} approved ${approved.id}: ${visible(approved.shown.what)}`);
  if (options.resume === true) await runHere(context, id);
  else out.note(nextStep(approved));
}

function answerFrom({ session, always, widen }: Readonly<Record<string, unknown>>): ApprovalAnswer {
  if (session === true && always === true) {
    throw commandError(
      "bad_request",
      "--session and --always cannot be given together",
      "Choose one: --always covers more.",
    );
  }
  if (widen === true && always !== true) {
    throw commandError("bad_request", "--widen belongs to --always", "Add --always, or leave --widen out.");
  }
  if (always === true) return "always";
  return session === true ? "session" : "once";
}

const USED_WITHIN_MS = 1_500;

/** The asker looks several times a second; whether it really took the answer is worth the wait. */
async function outcomeOf(record: ApprovalRecord, store: ApprovalStore): Promise<ApprovalStatus> {
  const until = performance.now() + USED_WITHIN_MS;
  for (;;) {
    // Asked before the status is read: an asker may take the answer, run the call and end in between.
    const waits = store.isOwnerAlive(record) && performance.now() < until;
    const status = store.find(record.id)?.status;
    if (status !== "approved") return status ?? "expired";
    if (!waits) return status;
    await pause(50);
  }
}

function nextStep({ id, status }: ApprovalRecord): string {
  if (status === "consumed") return "The waiting call goes on.";
  if (status !== "approved") return "The call stopped waiting in the same moment, so nothing was run.";
  return `Nobody waits for it any more. Run it with: hermes approvals resume ${id}`;
}

export async function deny(context: CommandContext): Promise<void> {
  const { out } = context;
  const [id = "", ...words] = context.args;
  assertPerson();
  const reason = words.join(" ") || undefined;
  await withApprovals(context, async (store) => {
    const record = store.find(id);
    const denied =
      record === undefined
        ? unknownId(id)
        : await store.answer({ id, hash: record.hash, answer: "deny", by: localPerson(), reason });
    if (isRefused(denied)) return out.fail(denied);
    const value = publicRecord(denied, { ownerAlive: store.isOwnerAlive(denied) });
    out.result(value, `${out.mark("ok")} denied ${id}: ${visible(denied.shown.what)}`);
  });
}

export async function resume(context: CommandContext): Promise<void> {
  assertPerson();
  await runHere(context, context.args[0] ?? "");
}

/** Runs an approved call whose process is gone, here, through the whole path, once. */
async function runHere(context: CommandContext, id: string): Promise<void> {
  const { out } = context;
  await withSession(context, (_session, signal, { runtime }) =>
    withApprovals(context, async (store) => {
      const openSession = runtime.openSession.bind(runtime);
      const result = await resumeApproval({ store, id, openSession, signal });
      if ("ok" in result) out.callResult(result);
      else out.fail(result);
    }),
  );
}
