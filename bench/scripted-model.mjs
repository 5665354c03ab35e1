// Starts the scripted model's server.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { cleanEnvironment } from "./coordinate.mjs";

const SERVER = fileURLToPath(new URL("./servers/scripted-model.mjs", import.meta.url));

/** `url`: its base address. `account(key)`: what the client with this key has sent. */
export async function startScriptedModel() {
  const child = fork(SERVER, [], { env: cleanEnvironment(), stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ port }] = await once(child, "message");
  return {
    url: `http://127.0.0.1:${port}`,
    async account(key) {
      child.send({ account: `Bearer ${key}` });
      const [{ account }] = await once(child, "message");
      return account;
    },
    async stop() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}
