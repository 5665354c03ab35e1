// A store of conversations that writes nothing down: what the agent loop takes without its journal.

export function memoryConversations() {
  const conversations = new Map();
  let number = 0;
  return {
    async create(about) {
      const id = `memory_${conversations.size}`;
      conversations.set(id, []);
      const at = Date.now();
      return { owner: "", title: "", ...about, id, startedAt: at, updatedAt: at, messages: 0, state: "idle" };
    },
    get: async () => undefined,
    list: async () => [],
    async append(session, added) {
      const at = Date.now();
      const stored = added.map((message) => ({ ...message, id: String(++number), at }));
      conversations.get(session).push(...stored);
      return stored;
    },
    async messages(session, { last } = {}) {
      const all = conversations.get(session);
      return last === undefined ? [...all] : all.slice(-last);
    },
    update: async () => {},
    begin: async () => true,
    end: async () => {},
    search: async () => [],
    addBill: async () => {},
    spent: async () => 0,
    delete: async (session) => conversations.delete(session),
    close: async () => {},
  };
}
