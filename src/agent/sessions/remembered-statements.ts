import type { Database, Statement } from "../../store/driver.js";

/**
 * The same database; a statement is prepared once and used again. For callers with a fixed set of statements, each of
 * which is run to its end before anything else happens.
 */
export function withRememberedStatements(db: Database): Database {
  const known = new Map<string, Statement>();
  return {
    driver: db.driver,
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = known.get(sql) ?? db.prepare(sql);
      known.set(sql, statement);
      return statement;
    },
    close: () => db.close(),
  };
}
