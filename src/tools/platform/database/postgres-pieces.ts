import { Query } from "pg";

/** What a query of the driver has inside and its types do not tell. */
interface Inside {
  rows: number;
  portal: string;
  _result: { fields: readonly { readonly name: string }[]; command: string | null; rowCount: number | null };
  _getRows(connection: Wire, rows: number): void;
  handleRowDescription(message: unknown): void;
}

interface Wire {
  close(message: { type: "P"; name: string }): void;
  sync(): void;
}

export interface PieceOptions {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly firstPiece: number;
  /** How many rows are wanted next; 0 ends the query there. */
  nextPiece(): number;
  onColumns(names: readonly string[]): void;
  onRow(values: readonly unknown[]): void;
  done(error: Error | undefined, changed?: number): void;
}

const CHANGING = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/**
 * A query whose rows are asked for piece by piece: the server keeps it open (a portal) and computes only what is wanted.
 * It is one statement for sure, since the extended protocol takes no second one.
 */
export class PieceQuery extends Query<unknown[]> {
  readonly #options: PieceOptions;

  constructor(options: PieceOptions) {
    super({
      text: options.text,
      values: [...options.values],
      rowMode: "array",
      rows: options.firstPiece,
    } as never);
    this.#options = options;
    this.on("row", (row) => options.onRow(row as unknown as readonly unknown[]));
    this.on("error", (error) => options.done(error));
    this.on("end", () => {
      const { command, rowCount } = this.#inside._result;
      options.done(
        undefined,
        command !== null && CHANGING.has(command) ? (rowCount ?? undefined) : undefined,
      );
    });
  }

  get #inside(): Inside {
    return this as unknown as Inside;
  }

  /** Called by the driver. */
  handleRowDescription(message: unknown): void {
    (Query.prototype as unknown as Inside).handleRowDescription.call(this, message);
    this.#options.onColumns(this.#inside._result.fields.map(({ name }) => name));
  }

  /** Called by the driver when a piece has come and there may be more. */
  handlePortalSuspended(connection: Wire): void {
    const inside = this.#inside;
    inside.rows = this.#options.nextPiece();
    if (inside.rows > 0) {
      inside._getRows(connection, inside.rows);
    } else {
      connection.close({ type: "P", name: inside.portal });
      connection.sync();
    }
  }
}
