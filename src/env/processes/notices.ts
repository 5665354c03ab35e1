import type { ProcessEvent } from "../../observe/events.js";
import type { Tracked } from "./tracked-process.js";
import type { ProcessNotice } from "./types.js";
import { WATCH_LIMITS, WatchBreaker, WatchRules } from "./watch-rules.js";

/** Characters of output in one notice. */
const OUTPUT_CHARS = 2_000;
/** A session that never looks must not fill the memory. */
const MAX_WAITING = 64;

/** Collects what sessions wanted to be told until somebody takes it. */
export class Notices {
  readonly #redact: (text: string) => string;
  readonly #emit: (event: ProcessEvent) => void;
  readonly #now: () => number;
  readonly #breaker = new WatchBreaker();
  readonly #waiting = new Map<string, ProcessNotice[]>();
  /** Processes whose watching was switched off: their end is told instead. */
  readonly #tellEnd = new Set<string>();
  /** Processes whose end somebody has seen, before or after it was to be told. */
  readonly #endSeen = new Set<string>();

  constructor(options: {
    readonly redact: (text: string) => string;
    readonly emit: (event: ProcessEvent) => void;
    readonly now: () => number;
  }) {
    this.#redact = options.redact;
    this.#emit = options.emit;
    this.#now = options.now;
  }

  take(session: string): readonly ProcessNotice[] {
    const notices = this.#waiting.get(session) ?? [];
    this.#waiting.delete(session);
    return notices;
  }

  forget(session: string): void {
    this.#waiting.delete(session);
  }

  seenEnd(id: string, session: string): void {
    this.#endSeen.add(id);
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return;
    this.#waiting.set(
      session,
      waiting.filter((notice) => notice.process !== id || notice.kind !== "completed"),
    );
  }

  forgetProcess(id: string): void {
    this.#tellEnd.delete(id);
    this.#endSeen.delete(id);
  }

  wantsEnd(id: string): boolean {
    return this.#tellEnd.has(id);
  }

  completed(tracked: Tracked): void {
    if (this.#endSeen.has(tracked.id)) return;
    const { exitCode, lost } = tracked.info;
    const how = lost === undefined ? `ended with exit code ${exitCode}` : `was lost: ${lost}`;
    this.#add(tracked, {
      kind: "completed",
      message: `Background process ${tracked.id} ${how}.`,
      output: tracked.tail(OUTPUT_CHARS),
    });
  }

  /** Tells of lines that match, as often as the rules let it. */
  watcher(tracked: Tracked): { matched(line: string): void; readonly off: boolean } {
    const rules = new WatchRules(this.#breaker);
    return {
      matched: (line) => {
        const decision = rules.matched(this.#now());
        if (decision.tell) {
          const more =
            decision.suppressed === 0 ? "" : ` ${decision.suppressed} more matched since the last notice.`;
          const last = decision.last
            ? ` This is the last of ${WATCH_LIMITS.lifetime} notices; its output is no longer watched.`
            : "";
          this.#add(tracked, {
            kind: "matched",
            message: `Background process ${tracked.id} printed a line that matches.${more}${last}`,
            output: line.slice(0, OUTPUT_CHARS),
          });
        } else if (decision.switchedOff !== undefined) {
          this.#tellEnd.add(tracked.id);
          this.#add(tracked, {
            kind: "watch-ended",
            message: `The output of ${tracked.id} is no longer watched: ${decision.switchedOff}. Its end will be told.`,
            output: "",
          });
        }
      },
      get off() {
        return rules.off;
      },
    };
  }

  #add(tracked: Tracked, what: Pick<ProcessNotice, "kind" | "message" | "output">): void {
    const { id, session, command, exitCode } = tracked.info;
    const notice: ProcessNotice = {
      process: id,
      session,
      kind: what.kind,
      command,
      message: what.message,
      exitCode,
      output: this.#redact(what.output).slice(-OUTPUT_CHARS),
      at: this.#now(),
    };
    const waiting = this.#waiting.get(session) ?? [];
    waiting.push(notice);
    if (waiting.length > MAX_WAITING) waiting.shift();
    this.#waiting.set(session, waiting);
    const { kind, message, output, at } = notice;
    this.#emit({ type: "process.notice", id, session, kind, message, output, at });
  }
}
