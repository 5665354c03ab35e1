import { withoutPassword } from "./address.js";
import type { Place } from "./read-actions.js";
import { askGit } from "./run.js";

const SEPARATOR = "%00";

/** Rows of `for-each-ref`, whose fields cannot hold a NUL. */
async function refs(place: Place, request: { readonly fields: readonly string[]; readonly under: string[] }) {
  const { output } = await askGit({
    ...place,
    words: [
      "for-each-ref",
      `--format=${request.fields.map((field) => `%(${field})`).join(SEPARATOR)}`,
      ...request.under,
    ],
  });
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\0"));
}

export async function listBranches(place: Place) {
  const rows = await refs(place, {
    fields: ["refname", "objectname", "HEAD", "upstream:short", "upstream:track,nobracket", "subject"],
    under: ["refs/heads", "refs/remotes"],
  });
  const branches = rows
    .filter(([name = ""]) => !/^refs\/remotes\/[^/]+\/HEAD$/.test(name))
    .map(([name = "", hash = "", head, upstream = "", track = "", subject = ""]) => ({
      name: name.replace(/^refs\/(?:heads|remotes)\//, ""),
      hash,
      current: head === "*",
      remote: name.startsWith("refs/remotes/"),
      ...(upstream !== "" && {
        upstream,
        ahead: Number(/ahead (\d+)/.exec(track)?.[1] ?? 0),
        behind: Number(/behind (\d+)/.exec(track)?.[1] ?? 0),
      }),
      subject,
    }));
  return { current: branches.find(({ current }) => current)?.name ?? null, branches };
}

export async function listTags(place: Place) {
  const rows = await refs(place, {
    fields: ["refname:strip=2", "objectname", "*objectname", "creatordate:iso-strict", "contents:subject"],
    under: ["refs/tags"],
  });
  return {
    tags: rows.map(([name = "", hash = "", peeled = "", date = "", subject = ""]) => ({
      name,
      hash: peeled === "" ? hash : peeled,
      annotated: peeled !== "",
      date,
      subject,
    })),
  };
}

export async function listStashes(place: Place) {
  const { output } = await askGit({
    ...place,
    words: ["stash", "list", "-z", "--format=%gd%n%H%n%aI%n%gs"],
  });
  const stashes = output.split("\0").flatMap((record) => {
    const [ref = "", hash = "", date = "", ...message] = record.split("\n");
    return ref === "" ? [] : [{ ref, hash, date, message: message.join("\n") }];
  });
  return { stashes };
}

export async function listRemotes(place: Place) {
  const { output } = await askGit({ ...place, words: ["remote", "--verbose"] });
  const remotes = new Map<string, { name: string; fetch?: string; push?: string }>();
  for (const line of output.split("\n")) {
    const [, name = "", url = "", kind = ""] = /^([^\t]+)\t(.*) \((fetch|push)\)/.exec(line) ?? [];
    if (name === "") continue;
    remotes.set(name, { ...(remotes.get(name) ?? { name }), [kind]: withoutPassword(url) });
  }
  return { remotes: [...remotes.values()] };
}
