/**
 * Migration n brings `gateways.db` from `user_version` n to n + 1; released entries never change.
 *
 * `inbox.id` is the platform's: what it delivers twice is one row. What a row said is emptied once it is answered (the
 * conversation has it); its id stays for as long as a platform may deliver it again. `begun_after` is the last message of
 * the conversation before this one was put into it (`#12`: how many there were), so that after a crash it is known whether
 * it got there. `outbox.sender` is the process that has a part in its hands; one that is gone cannot finish it.
 */
export const GATEWAY_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gateway TEXT NOT NULL,
    id TEXT NOT NULL,
    chat TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    conversation TEXT,
    begun_after TEXT,
    message TEXT NOT NULL,
    UNIQUE (gateway, id)
  );
  CREATE INDEX IF NOT EXISTS inbox_open ON inbox (gateway, chat, seq) WHERE state IN ('waiting', 'working');
  CREATE INDEX IF NOT EXISTS inbox_received ON inbox (received_at);
  CREATE INDEX IF NOT EXISTS inbox_chat ON inbox (gateway, chat, received_at);
  CREATE TABLE IF NOT EXISTS outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gateway TEXT NOT NULL,
    chat TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    is_edit INTEGER NOT NULL,
    plain INTEGER NOT NULL DEFAULT 0,
    part TEXT NOT NULL,
    sender TEXT,
    ref TEXT,
    error TEXT
  );
  CREATE INDEX IF NOT EXISTS outbox_open ON outbox (gateway, chat, is_edit, seq) WHERE state IN ('waiting', 'sending');
  CREATE INDEX IF NOT EXISTS outbox_created ON outbox (created_at);
  CREATE TABLE IF NOT EXISTS chats (
    gateway TEXT NOT NULL,
    chat TEXT NOT NULL,
    role TEXT NOT NULL,
    conversation TEXT NOT NULL,
    PRIMARY KEY (gateway, chat, role)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS people (
    gateway TEXT NOT NULL,
    person TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (gateway, person)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pairing_codes (
    gateway TEXT NOT NULL,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (gateway, person)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS health (
    gateway TEXT PRIMARY KEY,
    worker TEXT,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    last_received_at INTEGER,
    restarts INTEGER NOT NULL,
    error TEXT
  ) WITHOUT ROWID;
  `,
  // `uid` names a part on every machine of a cluster; `shared` says how far its log is taken in.
  `
  ALTER TABLE outbox ADD COLUMN uid TEXT;
  UPDATE outbox SET uid = seq;
  CREATE INDEX IF NOT EXISTS outbox_uid ON outbox (gateway, uid);
  CREATE TABLE IF NOT EXISTS shared (gateway TEXT PRIMARY KEY, log_seq INTEGER NOT NULL) WITHOUT ROWID;
  `,
];
