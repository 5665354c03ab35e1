/** A request and the names of the tools that serve it. */
export interface JudgedQuery {
  readonly query: string;
  readonly relevant: ReadonlySet<string>;
}

export interface Measures {
  /** By k: the mean share of a query's tools among the first k. */
  readonly recall: ReadonlyMap<number, number>;
  /** Mean of 1 / place of the first right tool, 0 when it is not among the answers. */
  readonly mrr: number;
  readonly ndcg5: number;
}

const NDCG_DEPTH = 5;

/** How deep the answers of one query have to go. */
export function depthFor(ks: readonly number[]): number {
  return Math.max(NDCG_DEPTH, MRR_DEPTH, ...ks);
}

/** What lies deeper is not looked at by anybody. */
const MRR_DEPTH = 10;

export class Evaluation {
  readonly #ks: readonly number[];
  readonly #recalls: Map<number, number>;
  #reciprocals = 0;
  #gains = 0;
  #count = 0;

  constructor(ks: readonly number[]) {
    this.#ks = ks;
    this.#recalls = new Map(ks.map((k) => [k, 0]));
  }

  /** Names of the answers, best first. Of two tools with one name the better place counts. */
  add({ relevant }: JudgedQuery, given: readonly string[]): void {
    if (relevant.size === 0) return;
    this.#count += 1;
    const answers = [...new Set(given)];
    for (const k of this.#ks) {
      const found = answers.slice(0, k).filter((name) => relevant.has(name)).length;
      this.#recalls.set(k, (this.#recalls.get(k) ?? 0) + found / relevant.size);
    }
    const first = answers.findIndex((name) => relevant.has(name));
    if (first !== -1) this.#reciprocals += 1 / (first + 1);
    this.#gains += ndcg(relevant, answers.slice(0, NDCG_DEPTH));
  }

  /** Queries that count: those that name at least one tool. */
  get count(): number {
    return this.#count;
  }

  measures(): Measures {
    const mean = (sum: number): number => (this.#count === 0 ? 0 : sum / this.#count);
    return {
      recall: new Map(this.#ks.map((k) => [k, mean(this.#recalls.get(k) ?? 0)])),
      mrr: mean(this.#reciprocals),
      ndcg5: mean(this.#gains),
    };
  }
}

function ndcg(relevant: ReadonlySet<string>, answers: readonly string[]): number {
  const gain = (place: number): number => 1 / Math.log2(place + 2);
  let got = 0;
  for (const [place, name] of answers.entries()) if (relevant.has(name)) got += gain(place);
  let best = 0;
  for (let place = 0; place < Math.min(relevant.size, NDCG_DEPTH); place += 1) best += gain(place);
  return got / best;
}
