// Somebody with rights on the NATS servers: says who leads, deletes things. {"servers":[…],"what":"…","stream":"…"}
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const { servers, what, stream, seconds = 20 } = JSON.parse(process.argv[2]);
const connection = await connect({ servers, timeout: 2_000 });
const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1_500 });
const until = Date.now() + seconds * 1_000;
for (;;) {
  try {
    console.log(JSON.stringify(await run()));
    break;
  } catch (error) {
    if (Date.now() > until) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
await connection.close();

async function run() {
  switch (what) {
    case "leader": {
      const { cluster } = await manager.streams.info(stream);
      if (cluster?.leader === undefined || cluster.leader === "") throw new Error("nobody leads");
      return cluster.leader;
    }
    /** Everybody has caught up: only then may the next server be taken away. */
    case "healthy": {
      const late = await behind();
      if (late.length > 0) throw new Error(`behind: ${late.join(", ")}`);
      return true;
    }
    case "behind":
      return behind();
    case "delete consumers": {
      const names = [];
      for await (const { name } of manager.consumers.list(stream)) names.push(name);
      for (const name of names) await manager.consumers.delete(stream, name);
      return names.length;
    }
    case "delete stream":
      return manager.streams.delete(stream);
    case "used": {
      const { memory, storage } = await manager.getAccountInfo();
      return { memory, storage };
    }
    case "waiting":
      return (await manager.streams.info(stream)).state.messages;
  }
  throw new Error(`${what}: not known`);
}

async function behind() {
  const { cluster } = await manager.streams.info(stream);
  const others = cluster?.replicas ?? [];
  if (!cluster?.leader || others.length < 2) throw new Error("nobody leads");
  return others.filter(({ current, offline }) => !current || offline === true).map(({ name }) => name);
}
