import { createHash } from "node:crypto";
import type { Terms } from "./search-words.js";

/** What a conversation is found under. */
export interface Scope {
  readonly owner?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** The root of a family of conversations that is left out. */
  readonly exceptRoot?: number | undefined;
}

export const roleTag = (role: string): string => `r${role}`;
export const rootTag = (root: number): string => `c${root}`;
/** Names of owners hold whatever platforms allow. */
export const ownerTag = (owner: string): string =>
  `o${createHash("sha256").update(owner).digest("hex").slice(0, 24)}`;

/** Every term is a quoted word: nothing a person types is ever an operator. */
export function expressionOf(terms: Terms, scope: Scope): string {
  const all = [
    ...[...terms.words].map((word) => `words : ${quoted(word)}`),
    ...[...terms.characters].map((character) => `characters : ${quoted(character)}`),
    ...(scope.owner === undefined ? [] : [`tags : ${quoted(ownerTag(scope.owner))}`]),
    ...(scope.roles === undefined
      ? []
      : [`(${scope.roles.map((role) => `tags : ${quoted(roleTag(role))}`).join(" OR ")})`]),
  ].join(" AND ");
  return scope.exceptRoot === undefined ? all : `(${all}) NOT tags : ${quoted(rootTag(scope.exceptRoot))}`;
}

function quoted(word: string): string {
  return `"${word.replaceAll('"', "")}"`;
}
