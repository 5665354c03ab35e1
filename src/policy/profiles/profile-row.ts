import type { Profile } from "./types.js";

/** A profile as lists show it. Field names are part of the public interface. */
export function profileRow(profile: Profile, active: string) {
  const texts = (field: "allow" | "deny" | "ask") =>
    profile.levels.flatMap((level) => level[field].map(({ text }) => text));
  return {
    name: profile.name,
    active: profile.name === active,
    description: profile.description,
    extends: profile.extends,
    source: profile.source,
    file: profile.origin.file,
    line: profile.origin.line ?? null,
    allow: texts("allow"),
    deny: texts("deny"),
    approval_required: texts("ask"),
    restrictions: profile.levels.flatMap((level) => level.restrictions.map(({ permission }) => permission)),
  };
}
