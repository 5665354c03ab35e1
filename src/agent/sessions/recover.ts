import type { Database } from "../../store/driver.js";
import { newConversationId } from "./conversation-rows.js";

/**
 * After a damaged file was replaced: messages whose conversation could not be read get a new one, for the person at this
 * machine alone, and all are counted anew.
 */
export function recoverConversations(db: Database): void {
  const now = Date.now();
  const orphans = db
    .prepare(
      `SELECT conversation, min(at) AS first, max(at) AS last FROM messages
       WHERE conversation NOT IN (SELECT seq FROM conversations) GROUP BY conversation`,
    )
    .all();
  const adopt = db.prepare(
    `INSERT INTO conversations
       (seq, id, title, source, owner, model, cwd, root, started_at, updated_at, messages, bytes)
     VALUES (?1, ?2, 'Recovered', 'cli', '', '', '', ?1, ?3, ?4, 0, 0)`,
  );
  for (const { conversation, first, last } of orphans)
    adopt.run(Number(conversation), newConversationId(now), Number(first), Number(last));
  db.exec(
    `UPDATE conversations SET
       messages = (SELECT count(*) FROM messages m WHERE m.conversation = conversations.seq),
       bytes = (SELECT total(length(CAST(text AS BLOB)) + coalesce(length(CAST(rest AS BLOB)), 0))
                FROM messages m WHERE m.conversation = conversations.seq)`,
  );
}
