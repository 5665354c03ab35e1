import { messageOf } from "../../base/errno.js";
import type { ProcessEvent } from "../../observe/events.js";
import type { Logger } from "../../observe/log.js";
import { newOwnerId } from "../../store/process-owner.js";
import type { Store } from "../../store/store.js";
import { ToolError } from "../../tool/errors.js";
import { isWithin, matching, oneOf } from "./find-process.js";
import { FlowControl } from "./flow-control.js";
import { DEFAULT_PROCESS_LIMITS, noRoom, type ProcessLimits, tooManyHandOffs } from "./limits.js";
import { firstMatch } from "./line-watch.js";
import { LogFiles, removeLogs } from "./log-files.js";
import { Notices } from "./notices.js";
import { ProcessRows } from "./process-rows.js";
import {
  deadOwners,
  describeLeft,
  type LeftProcess,
  leaveMarker,
  newProcessId,
  recoverLeft,
  removeMarker,
} from "./recover.js";
import { awaitStart, launch, patternsOf, requireFreePort, watchLines } from "./start-process.js";
import { Tracked } from "./tracked-process.js";
import type { ProcessInfo, SessionProcesses, StartProcess, TrackedProcess } from "./types.js";

export interface ProcessTableOptions {
  /** Opened with the first process. */
  readonly store: () => Promise<Store>;
  /** For the ends of outputs, which other processes may show, and for the marker of a crash. */
  readonly folder: string;
  readonly redact: (text: string) => string;
  readonly log: Logger;
  readonly emit: (event: ProcessEvent) => void;
  readonly limits?: Partial<ProcessLimits>;
  readonly now?: () => number;
}

/** The background processes of all sessions of one runtime. */
export interface ProcessTable {
  forSession(id: string): SessionProcesses;
  /** Of every session. */
  list(): readonly ProcessInfo[];
  /** By its whole id. */
  find(id: string): TrackedProcess | undefined;
  /** Ends what this session and those below it have running, except what was handed off. */
  endSession(id: string): Promise<void>;
  /** Ends and reports what runtimes that died have left; costs one look into a folder when there is nothing. */
  recover(): Promise<readonly LeftProcess[]>;
  /** Ends everything. The store belongs to whoever opened it. */
  close(): Promise<void>;
}

export function createProcessTable(options: ProcessTableOptions): ProcessTable {
  return new Table(options);
}

class Table implements ProcessTable {
  readonly #options: ProcessTableOptions;
  readonly #limits: ProcessLimits;
  readonly #now: () => number;
  readonly #owner = newOwnerId();
  readonly #processes = new Map<string, Tracked>();
  readonly #handOffs = new Map<string, number>();
  readonly #ending = new Set<Promise<void>>();
  readonly #logs: LogFiles;
  readonly #notices: Notices;
  readonly #flow = new FlowControl();
  #rows: Promise<ProcessRows> | undefined;
  #starting = 0;
  #closed = false;

  constructor(options: ProcessTableOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_PROCESS_LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    this.#logs = new LogFiles(options);
    this.#logs.alsoDo(() => void this.#endWhatWasAskedFor());
    this.#notices = new Notices({ redact: options.redact, emit: options.emit, now: this.#now });
  }

  forSession(session: string): SessionProcesses {
    const mine = () => [...this.#processes.values()].filter((one) => isWithin(one.session, session));
    return {
      start: (request) => this.#start(session, request),
      list: () => {
        this.#forgetOld();
        return mine().map((one) => one.info);
      },
      get: (id) => oneOf(mine(), id),
      pendingInput: (id) => matching(mine(), id)[0]?.pendingInput ?? "",
      sentInput: (id) => matching(mine(), id)[0]?.sentInput ?? "",
      seenEnd: (id) => this.#notices.seenEnd(id, session),
      takeNotices: () => this.#notices.take(session),
    };
  }

  list(): readonly ProcessInfo[] {
    this.#forgetOld();
    return [...this.#processes.values()].map((one) => one.info);
  }

  find(id: string): TrackedProcess | undefined {
    return this.#processes.get(id);
  }

  async endSession(id: string): Promise<void> {
    await this.#killAll((one) => isWithin(one.session, id) && !one.handedOff);
    this.#handOffs.delete(id);
    this.#notices.forget(id);
  }

  async recover(): Promise<readonly LeftProcess[]> {
    const { folder, log } = this.#options;
    if ((await deadOwners(folder)).length === 0) return [];
    const left = await recoverLeft({ rows: await this.#openRows(), folder, now: this.#now });
    for (const one of left) log.warn(describeLeft(one));
    return left;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#killAll(() => true);
    await Promise.allSettled(this.#ending);
    this.#logs.stop();
    await this.#logs.settled();
    if (this.#rows !== undefined) await removeMarker(this.#options.folder, this.#owner);
  }

  async #start(session: string, request: StartProcess): Promise<Tracked> {
    const patterns = patternsOf(request);
    this.#requireRoom();
    const tracked = new Tracked({
      id: newProcessId(),
      session,
      request,
      command: this.#options.redact(request.title),
      keepChars: this.#limits.keepChars,
      now: this.#now,
      flow: this.#flow,
      onHandOff: (one) => this.#handOff(one),
    });
    if (request.onOutput !== undefined) tracked.listen(request.onOutput);
    if (patterns.watch.length > 0) watchLines(tracked, patterns.watch, this.#notices.watcher(tracked));
    if (patterns.note !== undefined) tracked.notes = [patterns.note];
    const matched = firstMatch((listener) => tracked.listen(listener), patterns.ready);
    // It takes a place until it is in the table.
    this.#starting += 1;
    try {
      const { port } = request.ready ?? {};
      if (port !== undefined) await requireFreePort(port, request);
      const rows = await this.#openRows();
      await launch({ tracked, request, rows, owner: this.#owner });
      this.#follow({ tracked, rows, notify: request.notifyOnComplete === true });
    } finally {
      this.#starting -= 1;
    }
    await awaitStart({ tracked, request, matched });
    return tracked;
  }

  #follow(started: {
    readonly tracked: Tracked;
    readonly rows: ProcessRows;
    readonly notify: boolean;
  }): void {
    const { tracked } = started;
    const { id, session, command, environment } = tracked.info;
    this.#processes.set(id, tracked);
    this.#logs.follow(id, tracked.ring);
    this.#options.emit({ type: "process.started", id, session, command, environment, at: this.#now() });
    const ending = tracked.ended.then(() => this.#ended(started));
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
    if (this.#closed) void tracked.kill();
  }

  async #ended(over: {
    readonly tracked: Tracked;
    readonly rows: ProcessRows;
    readonly notify: boolean;
  }): Promise<void> {
    const { tracked, rows, notify } = over;
    const { info } = tracked;
    this.#options.emit({
      type: "process.ended",
      id: info.id,
      session: info.session,
      status: info.status,
      exit_code: info.exitCode,
      at: this.#now(),
    });
    if (notify || this.#notices.wantsEnd(tracked.id)) this.#notices.completed(tracked);
    try {
      rows.end(info.id, {
        status: info.status,
        exitCode: info.exitCode,
        lost: info.lost,
        endedAt: info.endedAt ?? this.#now(),
      });
    } catch (error) {
      this.#options.log.warn(`the end of ${info.id} could not be recorded: ${String(error)}`);
    }
    await this.#logs.finish(info.id);
  }

  #handOff(tracked: Tracked): void {
    const { session } = tracked;
    const used = this.#handOffs.get(session) ?? 0;
    if (used >= this.#limits.handOffs) {
      throw tooManyHandOffs(this.#limits.handOffs);
    }
    this.#handOffs.set(session, used + 1);
    const above = session.lastIndexOf(".");
    const given =
      above === -1 ? { session, handedOff: true } : { session: session.slice(0, above), handedOff: false };
    tracked.give(given);
    void this.#rows
      ?.then((rows) => rows.handOff(tracked.id, given))
      .catch((error: unknown) => {
        this.#options.log.warn(
          `that ${tracked.id} was handed off could not be recorded: ${messageOf(error)}`,
        );
      });
  }

  /** Requests of other processes of this home. */
  async #endWhatWasAskedFor(): Promise<void> {
    try {
      const rows = await this.#rows;
      for (const id of rows?.askedToEnd(this.#owner) ?? []) void this.#processes.get(id)?.kill();
    } catch {
      // The store may be closing; whoever asked is told that nothing happened.
    }
  }

  #openRows(): Promise<ProcessRows> {
    this.#rows ??= this.#prepare().catch((error: unknown) => {
      this.#rows = undefined;
      throw new ToolError(`Processes cannot be recorded, so none is started: ${messageOf(error)}`, {
        code: "unavailable",
        cause: error,
        hint: "Mend the folder or the database that is named, then try again.",
      });
    });
    return this.#rows;
  }

  async #prepare(): Promise<ProcessRows> {
    const { store, folder } = this.#options;
    const rows = new ProcessRows(await store());
    await leaveMarker(folder, this.#owner);
    await removeLogs(folder, rows.prune(this.#now()));
    return rows;
  }

  async #killAll(which: (one: Tracked) => boolean): Promise<void> {
    const chosen = [...this.#processes.values()].filter((one) => one.running && which(one));
    const results = await Promise.allSettled(chosen.map((one) => one.kill()));
    results.forEach((result, index) => {
      const survivors = result.status === "fulfilled" ? result.value : [];
      const names = survivors.map(({ pid, command }) => `${pid} (${command})`).join(", ");
      const id = chosen[index]?.id;
      if (names !== "") this.#options.log.warn(`${id}: these could not be ended: ${names}`);
      if (result.status === "rejected") {
        this.#options.log.warn(`${id} could not be ended: ${messageOf(result.reason)}`);
      }
    });
  }

  #forgetOld(): void {
    const limit = this.#now() - this.#limits.finishedKeptMs;
    for (const one of this.#processes.values()) {
      if (one.endedAt !== undefined && one.endedAt < limit) this.#forget(one);
    }
  }

  #forget(one: Tracked): void {
    one.dispose();
    this.#processes.delete(one.id);
    this.#notices.forgetProcess(one.id);
  }

  #requireRoom(): void {
    if (this.#closed) {
      throw new ToolError("The runtime is closing and starts nothing any more.", { code: "unavailable" });
    }
    this.#forgetOld();
    const { tracked } = this.#limits;
    const finished = [...this.#processes.values()]
      .filter((one) => !one.running)
      .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
    for (const one of finished) {
      if (this.#processes.size + this.#starting < tracked) return;
      this.#forget(one);
    }
    if (this.#processes.size + this.#starting < tracked) return;
    throw noRoom(tracked, [...this.#processes.values()].slice(0, 3));
  }
}
