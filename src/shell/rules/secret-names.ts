/** True for names that by custom hold a secret: `OPENAI_API_KEY`, `DB_PASSWORD`, `GITHUB_TOKEN`. */
export function isSecretName(name: string): boolean {
  return (
    /(?:^|_)(?:TOKENS?|SECRETS?|PASS(?:WD|WORD|PHRASE)?S?|API_?KEYS?|APIKEY|ACCESS_?KEY(?:_ID)?|PRIVATE_?KEY|CREDENTIALS?|PAT|AUTH|SESSION_KEY|ENCRYPTION_KEY|SIGNING_KEY|MASTER_KEY|PWD)(?:_|$)/i.test(
      name,
    ) && !/^(?:PWD|OLDPWD|SSH_AUTH_SOCK|.*_(?:FILE|PATH|URL|NAME|COUNT|LENGTH|LIMIT|TTL))$/i.test(name)
  );
}
