import { queryNeverEnds } from "./endless.js";

/** How deep text that SQL runs as SQL is followed (`EXECUTE 'DROP …'`, `DO $$ … $$`). */
const DEEPEST = 4;

/** Changes in one statement; each is looked at up to its WHERE, so their number must be bounded. */
const MOST_CHANGES = 50;

const DROPPABLE = new Set(
  (
    "TABLE DATABASE SCHEMA VIEW INDEX USER ROLE COLUMN KEYSPACE MATERIALIZED SEQUENCE TRIGGER FUNCTION PROCEDURE " +
    "TYPE DOMAIN EXTENSION OWNED TABLESPACE TEMPORARY TEMP FOREIGN SERVER POLICY CONSTRAINT PARTITION MEASUREMENT " +
    "LOGIN AGGREGATE EVENT PUBLICATION SUBSCRIPTION STAGE WAREHOUSE STREAM TASK DICTIONARY SYNONYM PACKAGE RETENTION " +
    "SERIES SHARD CONTINUOUS PRIMARY ALL CLUSTER PIPE SHARE GRAPH COLLECTION BUCKET AVAILABILITY CREDENTIAL IF"
  ).split(" "),
);
const RUNS_PROGRAMS = /^(?:XP_CMDSHELL|SP_OACREATE|SYS_EXEC|SYS_EVAL|XP_REGWRITE|LO_EXPORT|DBMS_SCHEDULER)$/;
const READS_FILES = /^(?:LOAD_FILE|PG_READ_FILE|PG_READ_BINARY_FILE|LO_IMPORT|PG_LS_DIR)$/;
const ENDS_SESSIONS = /^(?:PG_TERMINATE_BACKEND|PG_CANCEL_BACKEND)$/;

/** Why this SQL should be seen by a person first; undefined when it only reads or changes what a WHERE names. */
export function riskOfSql(text: string, dialect: SqlDialect = {}): string | undefined {
  return judgeText({ text, dialect, depth: 0 });
}

interface Nested {
  readonly text: string;
  readonly dialect: SqlDialect;
  readonly depth: number;
}

function judgeText({ text, dialect, depth }: Nested): string | undefined {
  if (depth > DEEPEST) return "hides SQL inside SQL too deeply to be judged";
  if (queryNeverEnds(text)) return "keeps the database busy without end";
  for (const statement of sqlStatements(text, dialect)) {
    const reason = judgeStatement(statement) ?? judgeNested({ statement, dialect, depth });
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function judgeNested(call: {
  statement: readonly SqlToken[];
  dialect: SqlDialect;
  depth: number;
}): string | undefined {
  const { statement, dialect, depth } = call;
  const runsText =
    statement[0]?.text === "DO" ||
    statement.some((token) => isWord(token, "EXECUTE", "EXEC", "PREPARE", "SP_EXECUTESQL"));
  if (!runsText) return undefined;
  for (const token of statement) {
    if (token.kind !== "string") continue;
    const reason = judgeText({ text: token.text, dialect, depth: depth + 1 });
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function judgeStatement(tokens: readonly SqlToken[]): string | undefined {
  const [first, second] = tokens;
  if (first === undefined) return undefined;
  if (
    isWord(first, "EXPLAIN", "DESCRIBE", "DESC", "SHOW", "HELP") &&
    !(isWord(first, "EXPLAIN") && tokens.slice(1, 5).some((token) => isWord(token, "ANALYZE")))
  )
    return undefined;
  if (isWord(first, "TRUNCATE")) return "empties a table";
  if (isWord(first, "DROP")) return "drops a part of a database";
  if (isWord(first, "REVOKE")) return "takes rights away in a database";
  if (isWord(first, "GRANT")) return riskOfGrant(tokens);
  if (isWord(first, "ALTER")) return riskOfAlter(tokens);
  if (isWord(first, "SHUTDOWN", "KILL") || (isWord(first, "SYSTEM") && isWord(second, "SHUTDOWN", "KILL")))
    return "stops a database or its sessions";
  if (isWord(first, "PURGE") || (isWord(first, "RESET") && isWord(second, "MASTER", "SLAVE", "BINARY")))
    return "deletes logs of a database";
  if (isWord(first, "SET") && isWord(second, "PASSWORD")) return "changes a password of a database";
  if (isWord(first, "INSERT") && isWord(second, "OVERWRITE")) return "replaces the rows of a table";
  if (isWord(first, "DETACH") && isWord(second, "DELETE")) return "deletes nodes of a graph";
  return riskAnywhere(tokens);
}

/** What matters wherever it stands: after BEGIN, in a common table expression, without semicolons between. */
function riskAnywhere(tokens: readonly SqlToken[]): string | undefined {
  let changes = 0;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind !== "word") continue;
    const next = tokens[index + 1];
    const before = tokens[index - 1];
    const { text } = token;
    if ((text === "DELETE" || text === "UPDATE") && ++changes > MOST_CHANGES)
      return "holds too many changes to be judged";
    if (text === "DROP" && next?.kind === "word" && DROPPABLE.has(next.text) && !isSign(before, ","))
      return "drops a part of a database";
    if (text === "TRUNCATE" && isWord(next, "TABLE")) return "empties a table";
    if (text === "REPLACE" && isWord(before, "OR") && isWord(next, "TABLE")) return "replaces a table";
    if (text === "DELETE" && (index === 0 || isWord(next, "FROM") || isWord(before, "DETACH"))) {
      if (!isBounded(tokens, index)) return "deletes every row of a table";
    }
    if (text === "UPDATE" && isUpdate(tokens, index) && !isBounded(tokens, index))
      return "changes every row of a table";
    if (text === "PROGRAM" && isWord(before, "TO", "FROM")) return "runs a program from SQL";
    if ((text === "OUTFILE" || text === "DUMPFILE") && isWord(before, "INTO"))
      return "writes a file from SQL";
    if (RUNS_PROGRAMS.test(text)) return "runs a program from SQL";
    if (READS_FILES.test(text) && isSign(next, "(")) return "reads files of the server";
    if (ENDS_SESSIONS.test(text) && isSign(next, "(")) return "ends sessions of a database";
    if (text === "LANGUAGE" && /^(?:PLPYTHON\w*|PLPERLU|C|PLSH)$/.test(next?.text ?? ""))
      return "adds code that runs outside the database's walls";
    if (text === "SUPERUSER" && isWord(tokens[0], "CREATE")) return "makes a database administrator";
  }
  return undefined;
}

function isUpdate(tokens: readonly SqlToken[], index: number): boolean {
  if (isWord(tokens[index - 1], "FOR", "DO", "KEY", "ON", "OF", "BEFORE", "AFTER", "OR", "NO")) return false;
  if (isSign(tokens[index - 1], ",")) return false;
  return tokens.slice(index + 1, index + 12).some((token) => isWord(token, "SET"));
}

/** True when a WHERE follows that can leave rows out. */
function isBounded(tokens: readonly SqlToken[], from: number): boolean {
  const where = ownWhere(tokens, from);
  if (where < 0) {
    // Cypher bounds a deletion in the MATCH before it.
    return (
      isWord(tokens[0], "MATCH") &&
      tokens.slice(0, from).some((token) => isWord(token, "WHERE") || isSign(token, "{"))
    );
  }
  const rest = tokens.slice(where + 1);
  const end = rest.findIndex(
    (token) => isWord(token, "RETURNING", "ORDER", "LIMIT") || (token.kind === "sign" && token.text === ")"),
  );
  const condition = rest.slice(0, end < 0 ? undefined : end).filter((token) => !isSign(token, "("));
  return !isAlwaysTrue(condition);
}

/** The WHERE of the change itself; one inside parentheses belongs to a selection within it. */
function ownWhere(tokens: readonly SqlToken[], from: number): number {
  let depth = 0;
  for (let index = from + 1; index < tokens.length; index++) {
    const token = tokens[index];
    if (isSign(token, "(")) depth++;
    else if (isSign(token, ")")) depth--;
    else if (depth <= 0 && isWord(token, "WHERE")) return index;
    if (depth < 0) return -1;
  }
  return -1;
}

function isAlwaysTrue(condition: readonly SqlToken[]): boolean {
  const parts: SqlToken[][] = [[]];
  for (const token of condition) {
    if (isWord(token, "OR")) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.some((part) => {
    const [left, sign, right] = part;
    if (part.length === 0) return true;
    if (part.length === 1)
      return isWord(left, "TRUE") || (left?.kind === "number" && Number(left.text) !== 0);
    if (part.length !== 3 || left === undefined || right === undefined) return false;
    if (isSign(sign, "=")) return left.text === right.text && left.kind === right.kind;
    return left.kind === "number" && right.kind === "number" && (isSign(sign, "<") || isSign(sign, ">"));
  });
}

function riskOfGrant(tokens: readonly SqlToken[]): string | undefined {
  const wide =
    tokens.some(
      (token) =>
        isWord(token, "ALL", "SUPER", "SUPERUSER", "PUBLIC", "OWNERSHIP", "CONTROL") ||
        /ADMIN/.test(token.kind === "word" ? token.text : ""),
    ) ||
    !tokens.some((token) => isWord(token, "ON")) ||
    tokens.some((token, index) => isWord(token, "GRANT") && isWord(tokens[index + 1], "OPTION"));
  return wide ? "gives wide rights in a database" : undefined;
}

function riskOfAlter(tokens: readonly SqlToken[]): string | undefined {
  const second = tokens[1];
  if (isWord(second, "SYSTEM")) return "changes the settings of a database server";
  if (
    isWord(second, "USER", "ROLE", "LOGIN") &&
    tokens.some((token) =>
      isWord(token, "SUPERUSER", "PASSWORD", "CREATEROLE", "IDENTIFIED", "BYPASSRLS", "SYSADMIN"),
    )
  )
    return "changes an account of a database";
  for (let index = 2; index < tokens.length; index++) {
    const token = tokens[index];
    const next = tokens[index + 1];
    if (isWord(token, "DROP") && !isWord(next, "NOT", "DEFAULT", "EXPRESSION", "IDENTITY"))
      return "drops a part of a table";
    if (isWord(token, "DISABLE") && isWord(next, "TRIGGER", "ROW", "KEYS"))
      return "switches off a safeguard of a table";
    if (isWord(token, "DELETE") && !isWord(tokens[index - 1], "ON") && !isBounded(tokens, index))
      return "deletes every row of a table";
    if (
      isWord(token, "UPDATE") &&
      !isWord(tokens[index - 1], "ON") &&
      !isBounded(tokens, index) &&
      isWord(tokens[1], "TABLE")
    )
      return "changes every row of a table";
  }
  return undefined;
}

export function isWord(token: SqlToken | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.text);
}

function isSign(token: SqlToken | undefined, sign: string): boolean {
  return token?.kind === "sign" && token.text === sign;
}

/** One piece of SQL text; words are upper case, comments are gone. */
export interface SqlToken {
  readonly kind: "word" | "string" | "quoted" | "number" | "sign";
  readonly text: string;
}

export interface SqlDialect {
  /** MySQL and its kin: backslash escapes, `#` comments, and comments that hold code after an exclamation mark. */
  readonly mysql?: boolean;
}

const TOKEN =
  /\s+|--[^\n]*|(\d[\w.]*)|([A-Za-z_\u0080-\uFFFF@][\w$\u0080-\uFFFF]*)|(\$(?:[A-Za-z_]\w*)?\$)|('|"|`|\[|\/\*|#)|([\s\S])/y;

/** Splits SQL into statements of tokens. A text that ends inside a string ends there. */
export function sqlStatements(text: string, dialect: SqlDialect = {}): readonly (readonly SqlToken[])[] {
  const statements: SqlToken[][] = [[]];
  const add = (kind: SqlToken["kind"], piece: string): void => {
    statements.at(-1)?.push({ kind, text: piece });
  };
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    at = TOKEN.lastIndex;
    const [, number, word, dollar, opener, sign] = match;
    if (number !== undefined) add("number", number);
    else if (word !== undefined) add("word", word.toUpperCase());
    else if (dollar !== undefined) {
      const end = text.indexOf(dollar, at);
      add("string", text.slice(at, end < 0 ? text.length : end));
      at = end < 0 ? text.length : end + dollar.length;
    } else if (opener !== undefined) at = readOpened({ text, opener, at, dialect, add });
    else if (sign === ";") statements.push([]);
    else if (sign !== undefined) add("sign", sign);
  }
  return statements.filter((statement) => statement.length > 0);
}

interface Opened {
  readonly text: string;
  readonly opener: string;
  readonly at: number;
  readonly dialect: SqlDialect;
  readonly add: (kind: SqlToken["kind"], piece: string) => void;
}

/** Reads what a quote or comment sign opens; gives the place after it. */
function readOpened({ text, opener, at, dialect, add }: Opened): number {
  if (opener === "/*") {
    if (dialect.mysql === true && text[at] === "!")
      return at + (/^!\d*/.exec(text.slice(at, at + 8))?.[0].length ?? 1);
    const end = text.indexOf("*/", at);
    return end < 0 ? text.length : end + 2;
  }
  if (opener === "#") {
    if (dialect.mysql !== true) {
      add("sign", "#");
      return at;
    }
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end;
  }
  const closer = opener === "[" ? "]" : opener;
  if (opener === "[" && !/^[A-Za-z_]/.test(text.slice(at, at + 1))) {
    add("sign", "[");
    return at;
  }
  let value = "";
  let index = at;
  for (; index < text.length; index++) {
    const char = text[index] ?? "";
    if (char === "\\" && dialect.mysql === true) {
      value += text[index + 1] ?? "";
      index += 1;
    } else if (char === closer) {
      if (text[index + 1] !== closer) break;
      value += closer;
      index += 1;
    } else value += char;
  }
  add(opener === "'" ? "string" : "quoted", value);
  return index + 1;
}
