/** What whoever made the calls saw. */
export interface Answer {
  readonly done: string;
  readonly kind: string;
  readonly ok: boolean;
  /** False when a result is not the one of its call. */
  readonly right: boolean;
  readonly code?: string;
  readonly state?: string;
  readonly pid?: number;
  readonly ms: number;
  readonly why?: string;
}

export interface Row {
  readonly id: string;
  readonly tool: string;
  readonly status: string;
  readonly state?: string;
  readonly code?: string;
}

/** Everything that was asked and answered, in the order in which it was told. */
export class History {
  readonly tried = new Map<string, { readonly kind: string; readonly at: number }>();
  readonly answers = new Map<string, Answer[]>();
  /** Their connection or their front node ended first. */
  readonly unanswered = new Set<string>();

  note(line: Record<string, unknown>): void {
    if (typeof line.tried === "string")
      this.tried.set(line.tried, { kind: String(line.kind), at: Number(line.at) });
    if (typeof line.unanswered === "string") this.unanswered.add(line.unanswered);
    if (typeof line.done === "string") {
      const answer = line as unknown as Answer;
      this.answers.set(answer.done, [...(this.answers.get(answer.done) ?? []), answer]);
    }
  }
}

export interface Verdict {
  /** Anything here is a broken promise. */
  readonly broken: readonly string[];
  readonly calls: number;
  readonly ok: number;
  readonly unknown: number;
  /** Refused before they began, timed out, cancelled. */
  readonly errors: number;
  /** Never answered, told as unknown by the journal. */
  readonly unanswered: number;
}

/**
 * Every call that was answered has one outcome, or says honestly that nobody knows; what it left behind is there once
 * when it succeeded, never when it did not begin, and never twice; the journal says the same as the answer.
 */
export function judge(parts: {
  readonly history: History;
  /** Ids of calls as often as they ran. */
  readonly witness: readonly string[];
  /** Of the front node. */
  readonly journal: readonly Row[];
}): Verdict {
  const { history, journal } = parts;
  const broken: string[] = [];
  const ran = new Map<string, number>();
  for (const id of parts.witness) ran.set(id, (ran.get(id) ?? 0) + 1);
  const rows = new Map<string, Row[]>();
  for (const row of journal) rows.set(row.id, [...(rows.get(row.id) ?? []), row]);
  const sum = { ok: 0, unknown: 0, errors: 0, unanswered: 0 };
  for (const id of ran.keys()) if (!history.tried.has(id)) broken.push(`${id} ran, but nobody asked for it`);
  for (const [id, { kind }] of history.tried) {
    const say = (what: string) => broken.push(`${id} (${kind}): ${what}`);
    const answers = history.answers.get(id) ?? [];
    const [answer] = answers;
    const [row] = rows.get(id) ?? [];
    const times = ran.get(id) ?? 0;
    const writes = /write|command/.test(kind);
    if (answers.length > 1) say("was answered twice");
    if ((rows.get(id)?.length ?? 0) > 1) say("has two rows in the journal");
    if (times > 1) say(`ran ${times} times`);
    if (answer === undefined) {
      sum.unanswered += 1;
      if (!history.unanswered.has(id)) say("was never answered");
      else if (row === undefined && times > 0) say("ran and is in no journal");
      else if (row?.status === "running") say("is said to be running after its front node has ended");
      else if (row?.status === "ok" && writes && times !== 1) say("is ok in the journal and left nothing");
      continue;
    }
    if (row === undefined) say("was answered and is in no journal");
    else if (row.status !== statusFor(answer))
      say(`was answered ${statusFor(answer)}, the journal says ${row.status}`);
    if (answer.ok) sum.ok += 1;
    else if (answer.code === "unknown") sum.unknown += 1;
    else sum.errors += 1;
    if (!answer.right) say("got the result of another call");
    if (answer.ok && writes && times !== 1) say(`succeeded and left ${times} lines`);
    if (answer.state === "not_started" && times > 0) say("is said not to have begun, but ran");
    if (!answer.ok && answer.code === "unknown" && answer.state === "done") say("is unknown and done");
  }
  return { broken, calls: history.tried.size, ...sum };
}

function statusFor({ ok, code = "" }: Answer): string {
  if (ok) return "ok";
  return ["unknown", "timeout", "cancelled", "denied"].includes(code) ? code : "error";
}
