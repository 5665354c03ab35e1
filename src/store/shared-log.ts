/** One step in the life of something that several machines may work on; each kind of thing has its own besides these. */
export interface SharedChange {
  /** `whole`: everything at once, whatever came before. `deleted`: there is nothing any more. */
  readonly kind: string;
}

/** Something shared as it lies in the home of this machine. */
export interface SharedCopy<Change extends SharedChange> {
  /** Its name among its kind, everywhere. */
  readonly id: string;
  readonly kind: string;
  /** Told with each record, for whoever looks for one. */
  readonly about: Readonly<Record<string, string>>;
  /** The last record it has taken in, 0 for none; ahead: what is here was never told. Undefined: it is not here. */
  state(): { readonly seq: number; readonly isAhead: boolean } | undefined;
  whole(): Change;
  /** All of it or nothing, and only while the copy still stands at `from`. */
  apply(records: {
    readonly from: number;
    readonly to: number;
    readonly changes: readonly Change[];
    /** What is only here is replaced: the others have gone on without it. */
    readonly isAhead?: boolean;
  }): void;
}

/** Who works on something. */
export interface Holder {
  readonly node: string;
  readonly host: string;
}

/**
 * What machines tell each other of things that outlive each of them: for each thing a list of records, in one order for
 * all. Whoever writes must know the last record; so of two that write at the same time one is refused, and one that was
 * believed dead and is not can write no more.
 */
export interface SharedLog {
  /** Takes in what this machine lacks. */
  refresh<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<void>;
  /** From now on only this machine writes; with whoever does so already, and lives. */
  hold<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<Holder | undefined>;
  /** Another one may go on. */
  release<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<void>;
  /**
   * Resolves when the servers have it. `commit` writes it into this home: the record has that number, and the copy stands
   * there afterwards. Throws a HermesError where another machine writes.
   */
  record<Change extends SharedChange, Result>(
    copy: SharedCopy<Change>,
    record: { changes(): readonly Change[]; commit(seq: number): Result },
  ): Promise<Result>;
  /** Goes with the next record: for what may be lost with the machine. */
  later<Change extends SharedChange>(copy: SharedCopy<Change>, change: Change): void;
  /** Asks whoever holds it; rejects when nobody does. */
  tell(thing: { readonly kind: string; readonly id: string }, body: unknown): Promise<unknown>;
  /** What others ask about things of a kind that are held here. */
  hear(kind: string, take: (id: string, body: unknown) => Promise<unknown>): void;
  /** The one of a kind that was written last, among those that are wanted. */
  newest(
    kind: string,
    isWanted: (about: Readonly<Record<string, string>>) => boolean,
  ): Promise<string | undefined>;
}
