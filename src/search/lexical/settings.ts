/** Numbers of the ranking. They were measured over several unlike catalogues; none belongs to one of them. */
export interface RankingSettings {
  /** What a word in a field is worth, in the order of FIELDS. */
  readonly fieldWeights: readonly number[];
  /** How much the length of a field is held against a tool, from 0 to 1, in the order of FIELDS. */
  readonly fieldLengthPenalties: readonly number[];
  /** How soon more of the same word stops counting. */
  readonly saturation: number;
  /** Against the word itself: one that means much the same. */
  readonly synonym: number;
  /** Against the word itself: one of the same subject. */
  readonly topic: number;
  /** Against the word itself: one that a slip of the finger would make of it. */
  readonly slip: number;
  /** Two neighbours of the request written as one, as in "git hub". */
  readonly joined: number;
  /** What words in the order of the request add to a tool. */
  readonly pair: number;
  /** How many of the best tools are looked at for that. */
  readonly refined: number;
  /** Words in quotation marks are mostly values. */
  readonly quoted: number;
  readonly number: number;
  /** "please", "would like". */
  readonly polite: number;
  /** "provide", "information". */
  readonly common: number;
  /** "morning", "important". */
  readonly everyday: number;
  /** 0 lets the part with the most to say win; 1 gives every part the same voice. */
  readonly partEvenness: number;
}

export const SETTINGS: RankingSettings = {
  fieldWeights: [3, 2, 1, 0.7, 0.5, 0.7, 1.5],
  fieldLengthPenalties: [0.5, 0.6, 0.6, 0.6, 0.6, 0.3, 0.3],
  saturation: 1.2,
  synonym: 0.5,
  topic: 0.18,
  slip: 0.5,
  joined: 0.6,
  pair: 0.4,
  refined: 25,
  quoted: 0.4,
  number: 0.3,
  polite: 0.1,
  common: 0.6,
  everyday: 0.6,
  partEvenness: 0.5,
};
