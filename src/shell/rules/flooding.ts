import type { ShellWord } from "../types.js";
import { isElsewhere } from "./addresses.js";
import { type Condition, names, subject } from "./row.js";

const FLOODS = "writes again and again to what other people read or pay for";

/** In a loop, or for each of many operands. */
const repeated =
  (which: Condition): Condition =>
  (call) =>
    call.command.repeated ? which(call) : undefined;

const WRITES =
  /^(?:create|new|add|comment|note|run|trigger|dispatch|rerun|retry|reopen|close|edit|update|invite|fork|star|react|reply|post|send|assign|transition|upload|publish|start|execute|log|watch-add|merge|approve|submit|dispatch)$/;
const verb: Condition = ({ operands }) => operands.slice(1, 3).find(({ text }) => WRITES.test(text));

const SENDS_DATA =
  /^(?:-d|--data(?:-\w+)?|--json|-F|--form(?:-string)?|-T|--upload-file|--post-data|--post-file|--body-data)(?:=|$)|^-[sSfLkv]*[dFT]$|^--json=/;
const METHOD = /^(?:POST|PUT|PATCH|DELETE)$/i;

/** `curl -d …` to another machine; an address that is a variable may be this one. */
const writesElsewhere: Condition = ({ args }) => {
  const isWrite = args.some(
    ({ text }, index) =>
      SENDS_DATA.test(text) ||
      (METHOD.test(text) &&
        (index === 0 || /^(?:-X|--request|--method)$/.test(args[index - 1]?.text ?? ""))) ||
      /^(?:-X|--request=|--method=)(?:POST|PUT|PATCH|DELETE)$/i.test(text),
  );
  return isWrite ? args.find(isAddress) : undefined;
};
const isAddress = ({ text }: ShellWord): boolean => /^https?:\/\//i.test(text) && isElsewhere(text);

const AWS_PAID =
  /^(?:invoke\S*|send-\S+|publish\S*|start-\S+|put-\S+|run-task|create-\S+|converse\S*|update-service)$/;

const REPEATED_VERB = names("publish call submit invoke execute trigger send scale");

/** Loops over what writes to services, people and paid accounts. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("abuse", [
  { rule: "abuse.flood", reason: FLOODS, dry: "dry-run", tools: [
    { program: "gh|glab|tea|hub|jira|acli|linear|bb|asana|trello|clickup|notion|az-devops|forgejo|gitea|berg|codeberg-cli", taking: "R repo t title b body l label m message F", when: repeated(verb),
      match: ["for i in {1..5000}; do gh issue create -t \"bug $i\" -b x; done", "seq 2000 | xargs -I{} glab ci run -b main", "while read -r k; do jira issue comment add $k hi; done < keys"],
      not_match: ["for i in 1 2 3; do gh issue view $i; done", "gh issue create -t x -b y", "for r in a b; do gh repo clone acme/$r; done"] },
    { program: "gh|glab", taking: "R repo X method f raw-field F field H header q jq t input hostname", path: "api", when: repeated((call) => call.given("f", "raw-field", "F", "field", "input", "X", "method").find(({ text }) => !/^(?:GET|HEAD)$|^query=\s*(?:query\b|\{)/i.test(text))),
      match: ["for i in $(seq 99); do gh api repos/a/b/issues/3/comments -f body=hi; done"], not_match: ["for i in 1 2; do gh api repos/a/b/issues/$i; done"] },
    { program: "sendmail|mail|mailx|s-nail|mutt|neomutt|swaks|msmtp|ssmtp|mpack|sendemail|himalaya|sendgrid-mail|mailsend|mailsend-go|email", dry: "", when: repeated(({ args }) => args[0] ?? {}),
      match: ["while read -r m; do echo x | sendmail \"$m\"; done < staff.txt", "for i in $(seq 500); do swaks --to a@b.example; done"], not_match: ["for i in 1 2; do git log -1; done"] },
    { program: "curl|wget|http|https|xh|curlie", dry: "", when: repeated(writesElsewhere),
      match: ["while :; do curl -s https://api.openai.com/v1/chat/completions -d '{\"n\":128}'; done", "for i in $(seq 999); do curl -X POST https://api.acme.example/orders; done"],
      not_match: ["until curl -sf https://api.acme.example/health; do sleep 2; done", "for i in 1 2 3; do curl -d '{}' http://localhost:3000/items; done", "for i in $(cat ids); do curl -s https://api.acme.example/$i; done", "for u in $(cat urls); do curl -X POST $u; done"] },
    { program: "aws", taking: "profile region output query endpoint-url", when: repeated(({ operands: [service, operation] }) => operation !== undefined && service?.text !== "s3" && AWS_PAID.test(operation.text) ? operation : undefined),
      match: ["for i in $(seq 9999); do aws lambda invoke --function-name f o.json; done", "seq 99 | xargs -I{} aws sqs send-message --queue-url q --message-body {}"], not_match: ["for f in *.gz; do aws s3 cp $f s3://b/; done", "for t in a b; do aws dynamodb describe-table --table-name $t; done"] },
    { program: "gcloud|az|doctl|fly|flyctl|vercel|netlify|wrangler|heroku|supabase|firebase|railway|modal", when: repeated(({ operands, command }) => operands.slice(/^(?:gcloud|az|doctl)$/.test(command.program) ? 1 : 0, 5).find(({ text }) => REPEATED_VERB.has(text))),
      match: ["for i in $(seq 99); do gcloud pubsub topics publish t --message x; done", "while :; do fly scale count 3; done"], not_match: ["for a in x y; do fly deploy -a $a; done", "for s in a b; do gcloud run services describe $s; done"] },
  ] },
]);
