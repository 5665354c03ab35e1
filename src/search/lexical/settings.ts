/** Numbers of the ranking, measured over several catalogues. */
export interface RankingSettings {
  /** In the order of FIELDS. */
  readonly fieldWeights: readonly number[];
  /** How much a long field is held against a tool, from 0 to 1. */
  readonly fieldLengthPenalties: readonly number[];
  /** How fast more of the same word stops counting. */
  readonly saturation: number;
  /** Worth of a word that means the same, against the word itself. */
  readonly synonym: number;
  readonly pair: number;
  readonly joined: number;
  readonly coverage: number;
  readonly clause: number;
  readonly clauseEven: number;
  readonly clauseFloor: number;
  readonly number: number;
  readonly namePart: number;
  readonly refined: number;
  readonly rarityPower: number;
  readonly polite: number;
  readonly common: number;
}

export const SETTINGS: RankingSettings = {
  fieldWeights: [3, 1.5, 1, 1, 0.5, 1, 1.5],
  fieldLengthPenalties: [0.5, 0.6, 0.6, 0.6, 0.6, 0.3, 0.3],
  saturation: 1.5,
  synonym: 0.4,
  pair: 0.4,
  joined: 0.6,
  coverage: 0.5,
  clause: 3,
  clauseEven: 0.5,
  clauseFloor: 0.5,
  number: 0.3,
  namePart: 0,
  refined: 40,
  rarityPower: 1,
  polite: 0.1,
  common: 0.6,
};
