// Finders that people use, each asked in the way that suits it best: query → its first ten paths.
import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import fuzzysort from "fuzzysort";

/** `listFile` holds the paths, one a line. Programs that are not installed are left out. */
export function openPeers({ paths, listFile }) {
  const prepared = paths.map((path) => fuzzysort.prepare(path));
  const peers = {
    fuzzysort: async (query) => fuzzysort.go(query, prepared, { limit: 10 }).map(({ target }) => target),
  };
  const leftOut = {};
  const add = (name, argumentsFor) => {
    if (isInstalled(name)) peers[name] = (query) => firstLines({ name, args: argumentsFor(query), listFile });
    else leftOut[name] = `${name} is not installed`;
  };
  add("fzf", (query) => ["-f", query]);
  // It knows no separate words, only letters in order.
  add("fzy", (query) => ["-e", query.replaceAll(" ", "")]);
  return { peers, leftOut };
}

function isInstalled(name) {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function firstLines({ name, args, listFile }) {
  return new Promise((resolve, reject) => {
    const input = openSync(listFile, "r");
    const child = spawn(name, args, { stdio: [input, "pipe", "ignore"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.once("error", reject);
    child.once("close", () => {
      closeSync(input);
      resolve(Buffer.concat(chunks).toString("utf8").split("\n", 10));
    });
  });
}
