import { describe, expect, it } from "vitest";
import { maskVendorSecrets } from "../../src/tool/secret-patterns.js";

/** Made-up characters, assembled at run time so that no scanner takes this file for a leak. */
const fill = (length: number) => "aB3dE6gH9jK2mN5pQ8".repeat(20).slice(0, length);
const hex = (length: number) => "0a1b2c3d4e5f6789".repeat(20).slice(0, length);

const TOKENS: Readonly<Record<string, string>> = {
  OpenAI: `sk-${fill(48)}`,
  "OpenAI project": `sk-proj-${fill(60)}`,
  "OpenAI service account": `sk-svcacct-${fill(60)}`,
  Anthropic: `sk-ant-api03-${fill(60)}_x-AA`,
  OpenRouter: `sk-or-v1-${hex(64)}`,
  "GitHub classic": `ghp_${fill(36)}`,
  "GitHub OAuth": `gho_${fill(36)}`,
  "GitHub server": `ghs_${fill(36)}`,
  "GitHub fine-grained": `github_pat_${fill(22)}_${fill(59)}`,
  GitLab: `glpat-${fill(20)}`,
  "Slack bot": `xoxb-123456789012-123456789012-${fill(24)}`,
  "Slack user": `xoxp-1234567890-${fill(30)}`,
  "Slack app": `xapp-1-A012-${fill(30)}`,
  "Stripe live": `sk_live_${fill(24)}`,
  "Stripe restricted": `rk_live_${fill(24)}`,
  "Stripe webhook": `whsec_${fill(32)}`,
  "AWS key id": "AKIAIOSFODNN7EXAMPLE",
  Google: `AIza${fill(35)}`,
  "Google OAuth": `ya29.${fill(60)}`,
  "Google client secret": `GOCSPX-${fill(28)}`,
  "Azure AD": `abc8Q~${fill(34)}`,
  JWT: `eyJ${fill(30)}.eyJ${fill(40)}.${fill(43)}`,
  "JWT without signature": `eyJ${fill(30)}.eyJ${fill(40)}.`,
  Discord: `MTIz${fill(20)}.GaBcDe.${fill(38)}`,
  Telegram: `123456789:AAE${fill(32)}`,
  "Twilio key": `SK${hex(32)}`,
  "Twilio account": `AC${hex(32)}`,
  SendGrid: `SG.${fill(22)}.${fill(43)}`,
  npm: `npm_${fill(36)}`,
  PyPI: `pypi-AgEIcHlwaS5vcmc${fill(60)}`,
  "Hugging Face": `hf_${fill(34)}`,
  Groq: `gsk_${fill(52)}`,
  xAI: `xai-${fill(80)}`,
  Replicate: `r8_${fill(37)}`,
  Vault: `hvs.${fill(40)}`,
  DigitalOcean: `dop_v1_${hex(64)}`,
  Shopify: `shpat_${hex(32)}`,
  Databricks: `dapi${hex(32)}`,
  Linear: `lin_api_${fill(40)}`,
  Mailgun: `key-${hex(32)}`,
  Mailchimp: `${hex(32)}-us12`,
  Notion: `ntn_${fill(43)}`,
  Doppler: `dp.pt.${fill(43)}`,
  age: `AGE-SECRET-KEY-1${"QPZRY9X8".repeat(7)}`,
  Terraform: `${fill(14)}.atlasv1.${fill(60)}`,
  Perplexity: `pplx-${fill(48)}`,
  Tailscale: `tskey-auth-${fill(24)}`,
  Airtable: `pat${fill(14)}.${hex(64)}`,
};

const pem = (kind: string) =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${`${fill(64)}\n`.repeat(5)}-----END ${kind}PRIVATE KEY-----`;

const SHAPES: readonly (readonly [text: string, secret: string, kept: readonly string[]])[] = [
  [`bad key\n${pem("RSA ")}\nafter`, fill(64), ["bad key", "after"]],
  [`x ${pem("").replaceAll("\n", "\\n")} after`, fill(64), ["after"]],
  [`log ends ${pem("OPENSSH ").slice(0, 150)}`, fill(64), ["log ends"]],
  [`cut here:\n${pem("EC ").slice(120)} after`, fill(64), ["cut here:", "after"]],
  [`Authorization: Bearer ${fill(30)}\nHTTP 401`, fill(30), ["HTTP 401", "Authorization"]],
  ["authorization: Basic dXNlcjpwYXNzd29yZA== rejected", "dXNlcjpwYXNzd29yZA==", ["rejected"]],
  ["curl -u admin:hunter2! https://h failed", "hunter2!", ["https://h", "failed"]],
  ["x-api-key: 9f8e7d6c5b4a39281706 refused", "9f8e7d6c5b4a39281706", ["refused"]],
  ["Cookie: sid=s3cr3tvalue; theme=dark", "s3cr3tvalue", ["theme=dark"]],
  ["Set-Cookie: session=abcdef123456; Path=/", "abcdef123456", ["Path=/"]],
  ["mongodb+srv://root:p%40ss-w0rd@c0.example.net/db failed", "p%40ss-w0rd", ["c0.example.net/db"]],
  ["redis://:hunter2@cache:6379 refused", "hunter2", ["cache:6379"]],
  ["mysql://a:p@ss@db.internal/x", "p@ss", ["db.internal"]],
  [`https://${fill(40)}@git.example.com/r.git`, fill(40), ["git.example.com"]],
  ["dial root:s3cr3t@tcp(127.0.0.1:3306)/db", "s3cr3t", ["tcp(127.0.0.1:3306)"]],
  [`GET https://h/p?access_token=${fill(20)}&page=2`, fill(20), ["page=2"]],
  [`https://h/cb?code=4/0A${fill(20)}&state=ok`, fill(20), ["state=ok"]],
  ["https://a.blob.core.windows.net/c?sv=2022&sig=abc%2Bdef%3D 403", "abc%2Bdef%3D", ["403", "sv=2022"]],
  [
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${fill(60)}==;EndpointSuffix=x`,
    fill(60),
    ["AccountName=a", "EndpointSuffix=x"],
  ],
  ["Server=db;User Id=sa;Password=Sup3r;Encrypt=true", "Sup3r", ["Server=db", "Encrypt=true"]],
  ['{"user":"bob","password":"hunter2","n":1}', "hunter2", ['"user":"bob"', '"n":1']],
  ['"{\\"client_secret\\":\\"qwertyuiop\\",\\"a\\":1}"', "qwertyuiop", ['\\"a\\":1']],
  ["{'api_key': 'abcdefgh', 'x': 2}", "abcdefgh", ["'x': 2"]],
  ["password: hunter2\nnext", "hunter2", ["next"]],
  ["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY done", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY", ["done"]],
  ["<password>hunter2</password> rejected", "hunter2", ["rejected"]],
  ["run --token abc123def --verbose", "abc123def", ["--verbose"]],
  ["mysqldump -u root -pS3cret db", "S3cret", ["mysqldump -u root"]],
  [`twilio AC${hex(32)}:${hex(32).replace("0a", "ff")} 401`, hex(32).replace("0a", "ff"), ["401"]],
  [`https://hooks.slack.com/services/T000/B000/${fill(24)} 404`, fill(24), ["hooks.slack.com", "404"]],
  [`https://discord.com/api/webhooks/123456/${fill(60)} 404`, fill(60), ["404"]],
  ["machine h login u password p4ssw0rd", "p4ssw0rd", ["machine h login u"]],
  ["sshpass -p 'abc def' ssh host", "abc def", ["ssh host"]],
  ["Proxy-Authorization: Basic dTpw", "dTpw", ["Basic"]],
  ["STRIPE_KEY=abc123def456ghi", "abc123def456ghi", ["STRIPE_KEY"]],
  ["export GITHUB_TOKEN='abc123def456'", "abc123def456", ["GITHUB_TOKEN"]],
];

const HARMLESS: readonly string[] = [
  "token count: 12, max_tokens: 4096, tokens=1200",
  "password incorrect",
  "Access denied for user 'root'@'localhost' (using password: YES)",
  "Unexpected token: '}' at line 3; unexpected token = in expression",
  "Unexpected token < in JSON at position 0",
  "password: must be at least 8 characters",
  '{"password":"is required","token":"expired"}',
  "secret: not found in namespace default",
  "API key: missing. Set OPENAI_API_KEY=$OPENAI_API_KEY, api_key=%API_KEY% or token: {{token}}",
  "PWD=/home/app OLDPWD=/tmp",
  "Basic authentication required; use Bearer authentication instead",
  'WWW-Authenticate: Bearer realm="api", error="invalid_token"',
  "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
  "550e8400-e29b-41d4-a716-446655440000",
  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "md5 d41d8cd98f00b204e9800998ecf8427e  file.txt",
  "https://example.com:8080/path@2x.png?page=2&code=404&key=name",
  "disk-0123456789abcdef01234567 and task-runner-for-everything",
  "https://user@host/path and git@github.com:org/repo.git",
  "token file /var/run/secrets/token does not exist; token: /var/run/secrets/token",
  "primary_key=id foreign_key=user_id sort_key: created",
  "author=bob, authority: root, tokenizer=fast",
  "at 12:30:45 pid 123456: started",
  "token_type=bearer expires_in=3600",
  "hf_hub_download_with_retries npm_config_user_agent_string xapp-builder-lib-for-all",
  "NamespaceOfSomethings.Config.ConfigurationBuilderExtensions",
  "unexpected token: IDENTIFIER2",
  "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "ModuleNotFoundError: No module named 'sk-learn-contrib'",
  "curl: (6) Could not resolve host: api.example.com",
];

describe("maskVendorSecrets", () => {
  it.each(Object.entries(TOKENS))(
    "masks a token of %s, alone, in a sentence and in quotes",
    (_vendor, token) => {
      for (const text of [
        token,
        `key ${token} was denied`,
        `{"k":"${token}"}`,
        `(${token})`,
        `x=${token}\ny`,
      ]) {
        const masked = maskVendorSecrets(text);
        expect(masked).not.toContain(token);
        expect(masked).not.toContain(token.slice(-12));
        expect(masked).toContain("[REDACTED");
      }
      expect(maskVendorSecrets(`key ${token} was denied`)).toMatch(/^key .* was denied$/);
    },
  );

  it.each(SHAPES)("masks the secret in %j", (text, secret, kept) => {
    const masked = maskVendorSecrets(text);
    expect(masked).not.toContain(secret);
    for (const words of kept) expect(masked).toContain(words);
  });

  it.each(HARMLESS)("leaves %j as it is", (text) => {
    expect(maskVendorSecrets(text)).toBe(text);
  });

  it.each(Object.entries(TOKENS))("%s wrapped over two lines is still a key", (_, token) => {
    for (const end of ["\n", "\r\n    "]) {
      // What is left of it after the wrap is long enough to be worth something.
      for (let at = Math.ceil(token.length / 2); at <= token.length - 10; at += 1) {
        const text = `Error: key ${token.slice(0, at)}${end}${token.slice(at)} was refused`;
        const masked = maskVendorSecrets(text);
        expect(masked, text).not.toContain(token.slice(at));
        expect(masked, text).toMatch(/^Error: key .*was refused$/s);
      }
    }
  });

  it("the line behind a key stays when it is none", () => {
    const key = TOKENS.Anthropic ?? "";
    for (const next of [
      "Request failed",
      "at Object.<anonymous> (/app/a.js:3:9)",
      "anthropic-version 2023-06-01",
    ])
      expect(maskVendorSecrets(`bad key ${key}\n${next}`)).toBe(`bad key [REDACTED]\n${next}`);
  });

  it("masking twice changes nothing", () => {
    for (const text of [...Object.values(TOKENS), ...SHAPES.map(([shape]) => shape)]) {
      const once = maskVendorSecrets(text);
      expect(maskVendorSecrets(once)).toBe(once);
    }
  });
});
