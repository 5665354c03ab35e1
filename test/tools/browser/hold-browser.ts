import { navigate } from "../../../src/tools/browser/navigate.js";
import { makeContext } from "../context.js";

// Opens a page and stays: what becomes of its browser when this process is killed is what a test wants to know.
const [, , url = "", cacheDir = ""] = process.argv;
const ctx = makeContext({ cacheDir, settings: { allowed_hosts: ["127.0.0.1"] } });
const { title } = await navigate(url, ctx);
process.stdout.write(`${title}\n`);
setInterval(() => undefined, 1_000);
