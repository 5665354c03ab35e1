/** Field names are part of the public interface (`hermes replay --json`). */
export interface Replayed {
  readonly session: string;
  readonly calls: number;
  readonly same: number;
  readonly different: readonly Difference[];
  /** Calls of which the journal kept only a part of the arguments: nobody can say what would become of them. */
  readonly unknown: number;
}

export interface Difference {
  readonly id: string;
  readonly name: string;
  readonly why: string;
}
