// Finding a passage among a hundred thousand messages of earlier conversations.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { percentile, single, summary } from "../statistics.mjs";

const MESSAGES_EACH = 200;
/** Every tenth conversation is written without blanks between words. */
const UNSPACED = [..."数据库迁移会议设定服务器讨论方案明天下午北京上海报告预算项目计划测试发布问题用户"];

export async function measureSessionSearch({ dist, effort }) {
  const { openConversations } = await import(pathToFileURL(join(dist, "agent", "sessions.js")).href);
  const folder = await mkdtemp(join(tmpdir(), "hermes-bench-sessions-"));
  const store = await openConversations({
    sessionsDb: join(folder, "sessions.db"),
    sessionsIndex: join(folder, "sessions-index.db"),
  });
  try {
    const size = Math.max(...effort.sizes) * 10;
    const random = seeded(20_261_116);
    const started = performance.now();
    for (let written = 0; written < size; written += MESSAGES_EACH)
      await converse(store, { random, written });
    await store.index.follow();
    const filled = performance.now() - started;
    const taken = [];
    for (const query of queries(random, effort.rounds * 40)) {
      const asked = performance.now();
      await store.search(query);
      taken.push(performance.now() - asked);
    }
    return {
      messages: size,
      milliseconds: {
        [`session-search-${size}`]: summary(taken),
        [`session-search-p95-${size}`]: single(percentile(taken, 0.95)),
        [`session-fill-${size}`]: single(filled),
      },
    };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function converse(store, { random, written }) {
  const owner = written % 1_000 === 0 ? "telegram:7" : "";
  const { id } = await store.create({ source: "cli", model: "m", cwd: "/", owner });
  const isUnspaced = (written / MESSAGES_EACH) % 10 === 3;
  const messages = Array.from({ length: MESSAGES_EACH }, (_, index) => ({
    role: ["user", "assistant", "tool", "assistant"][index % 4],
    content: isUnspaced ? unspaced(random, 60) : sentence(random, 20 + Math.floor(random() * 150)),
  }));
  await store.append(id, messages);
}

/** What people and models ask for: rare and common words, several, sentences, two characters, one owner's, nothing. */
function* queries(random, count) {
  const kinds = [
    () => ({ words: word(random) }),
    () => ({ words: sentence(random, 2) }),
    () => ({ words: sentence(random, 3) }),
    () => ({ words: `what did we decide about ${sentence(random, 3)}` }),
    () => ({ words: "w0" }),
    () => ({ words: "w0 w1" }),
    () => ({ words: unspaced(random, 2) }),
    () => ({ words: unspaced(random, 1) }),
    () => ({ words: sentence(random, 2), owner: "telegram:7" }),
    () => ({ words: sentence(random, 1), roles: ["user"] }),
    () => ({ words: "zzzunheard" }),
  ];
  for (let index = 0; index < count; index += 1) yield { ...kinds[index % kinds.length](), limit: 10 };
}

/** Few words are said often and many seldom, as in every language. */
function word(random) {
  return `w${Math.floor(random() ** 4 * 30_000).toString(36)}`;
}

function sentence(random, words) {
  return Array.from({ length: words }, () => word(random)).join(" ");
}

function unspaced(random, characters) {
  return Array.from({ length: characters }, () => UNSPACED[Math.floor(random() * UNSPACED.length)]).join("");
}

function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
