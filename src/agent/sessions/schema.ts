/**
 * Migration n brings `sessions.db` from `user_version` n to n + 1; released entries never change.
 *
 * What lists show lies in columns, so that listing reads no message. `text` is what a message says in words, `rest` is
 * JSON with everything else. Numbers are never used again (AUTOINCREMENT): the index counts on it. `worker` names the
 * process that works on a conversation; `root` is the conversation that all of its kin descend from.
 *
 * No foreign keys: what can be read of a damaged file is copied table by table.
 */
export const CONVERSATION_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    owner TEXT NOT NULL,
    model TEXT NOT NULL,
    cwd TEXT NOT NULL,
    parent TEXT,
    root INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    worker TEXT
  );
  CREATE INDEX IF NOT EXISTS conversations_updated ON conversations (updated_at);
  CREATE INDEX IF NOT EXISTS conversations_root ON conversations (root);
  CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    rest TEXT
  );
  CREATE INDEX IF NOT EXISTS messages_conversation ON messages (conversation, seq);
  CREATE TABLE IF NOT EXISTS removed_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT OR IGNORE INTO about VALUES ('identity', lower(hex(randomblob(16))));
  `,
  // Bills outlive the conversations they belong to: what was spent today stays spent.
  `
  CREATE TABLE IF NOT EXISTS bills (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    root INTEGER NOT NULL,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL
  );
  CREATE INDEX IF NOT EXISTS bills_root ON bills (root);
  CREATE INDEX IF NOT EXISTS bills_at ON bills (at);
  `,
  "ALTER TABLE bills ADD COLUMN definition_tokens INTEGER NOT NULL DEFAULT 0",
  // How far the log of a cluster is taken in, and the last message then: another one since was never told to others.
  `
  CREATE TABLE IF NOT EXISTS shared (
    conversation INTEGER PRIMARY KEY,
    log_seq INTEGER NOT NULL,
    last_message INTEGER NOT NULL
  );
  `,
];

/**
 * `sessions-index.db`. Positions are not kept (`detail = column`) and neither is the text (`content = ''`): the words of
 * a message are looked up, what it says is read from `sessions.db`. The tokenizer takes every character beyond ASCII as
 * part of a word, so that what `terms` gives stays one word each.
 */
export const INDEX_MIGRATIONS: readonly string[] = [
  `
  CREATE VIRTUAL TABLE IF NOT EXISTS message_words USING fts5(
    words, characters, tags, content = '', contentless_delete = 1, detail = column, tokenize = 'ascii'
  );
  CREATE TABLE IF NOT EXISTS progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    identity TEXT NOT NULL,
    indexed_to INTEGER NOT NULL,
    removed_to INTEGER NOT NULL
  );
  INSERT OR IGNORE INTO progress VALUES (1, '', 0, 0);
  `,
];
