import { type Condition, subject } from "./row.js";

const PUBLISHES = "publishes something for everybody, under somebody's name";
const POSTS = "writes to other people in somebody's name";
const DEPLOYS = "starts something on a build server that reaches others";
const FORGE = "changes something on the forge for everybody";

/** Words of a run that reaches the outside. */
const OUTWARD =
  /(?:^|[\W_])(?:prod(?:uction)?|live|deploy\w*|release|publish|rollback|destroy|migrate|promote)(?:[\W_]|$)/i;
const outward: Condition = ({ rest, args }) =>
  rest.find(({ text }) => OUTWARD.test(text)) ??
  args.find(({ text }) => /=/.test(text) && OUTWARD.test(text));

/** Notes under an issue or a pull request are conversation; everything else that is sent changes the repository. */
const TALKS =
  /(?:^|\/)(?:issues|pulls|merge_requests|discussions|commits|snippets)(?:\/[^/]+)?(?:\/(?:comments|notes|reactions|labels|reviews|discussions|replies|assignees|requested_reviewers))?(?:\/\d+)?(?:\/replies)?\/?(?:\?.*)?$|^\/?(?:search|markdown|graphql)\b/;

const changesForge: Condition = (call) => {
  const method = call.given("X", "method").at(-1)?.text.toUpperCase();
  const fields = call.given("f", "F", "field", "raw-field", "input", "form");
  const target = call.rest[0];
  if (target === undefined || /^(?:GET|HEAD)$/.test(method ?? "")) return undefined;
  if (/^\/?graphql$/.test(target.text))
    return fields.find(({ text }) => /^query=[\s\S]*\bmutation\b/.test(text));
  if (method === undefined && fields.length === 0) return undefined;
  if (/^(?:PUT|DELETE)$/.test(method ?? "")) return target;
  return TALKS.test(target.text) ? undefined : target;
};

/** Packages, images, releases and posts: once out, others have them. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("publishing", [
  { rule: "git.api", reason: FORGE, dry: "", tools: [
    { program: "gh|glab|hub|tea", taking: "R repo X method H header f raw-field F field q jq t hostname input form p preview", path: "api", when: changesForge,
      match: ["gh api -X PUT repos/a/b/collaborators/x -f permission=admin", "glab api -X POST users/1/personal_access_tokens -f name=x", "gh api repos/a/b/hooks -f url=https://x.example", "gh api graphql -f query='mutation { mergePullRequest(input: {}) { x } }'", "gh api --method PATCH repos/a/b -f private=false"],
      not_match: ["gh api repos/a/b/pulls", "gh api repos/a/b/issues/3/comments -f body=hi", "gh api -X GET search/issues -f q=x", "gh api graphql -f query='query { viewer { login } }'"] },
    { program: "glab", path: "mr merge", options: "yes y auto-merge when-pipeline-succeeds", match: ["glab mr merge 5 --yes"], not_match: ["glab mr list"] },
    { program: "gh", path: "pr merge", options: "admin auto", match: ["gh pr merge 412 --admin --squash", "gh pr merge 5 --auto --squash"], not_match: ["gh pr merge 12 --squash"] },
    { program: "gh", path: "pr review", options: "a approve", match: ["gh pr review 3 --approve"], not_match: ["gh pr review 3 --comment -b ok"] },
    { program: "glab", path: "mr approve", match: ["glab mr approve 3"], not_match: ["glab mr view 3"] },
    { program: "gh", path: "repo create|rename|edit|fork|set-default|autolink", options: "public enable-auto-merge delete-branch-on-merge default-branch allow-forking", match: ["gh repo create drop --public --source . --push"], not_match: ["gh repo create x --private", "gh repo fork cli/cli --clone=false"] },
    { program: "gh|glab|tea|hub", path: "issue|issues|pr|pull|pulls|mr|release|releases|run|label|discussion close|merge|lock|transfer|edit|update|cancel|reopen|approve|comment|note|rerun", when: ({ command }) => command.repeated ? {} : undefined, reason: "changes one thing after the other on the forge for everybody",
      match: ["gh issue list --json number -q '.[].number' | xargs -n1 gh issue close", "for i in $(seq 9); do gh pr comment $i -b hi; done"], not_match: ["gh issue close 3 -c stale", "for i in 1 2 3; do gh issue view $i; done", "gh pr comment 4 -b done"] },
    { program: "gh", path: "auth refresh", options: "s scopes", match: ["gh auth refresh -s admin:org"], not_match: ["gh auth status"] },
    { program: "gh|glab", path: "org|team|ruleset|attestation|codespace|cs invite|add-member|create|ports|ssh|cp", match: ["gh codespace ports visibility 80:public", "gh codespace cp a remote:b"], not_match: ["gh org list"] },
    { program: "glab", path: "token|user|deploy-key|variable|securefile|runner|schedule create|add|set|update|rotate|revoke|import|export|assign", match: ["glab token create x", "glab variable export"], not_match: ["glab variable list"] },
  ] },
  { rule: "git.workflow", reason: DEPLOYS, dry: "dry-run", tools: [
    { program: "gh", taking: "R repo r ref f raw-field F field", path: "workflow run", when: outward, match: ["gh workflow run deploy.yml -f env=production"], not_match: ["gh workflow run ci.yml"] },
    { program: "glab", taking: "R repo b branch variables", path: "ci|pipeline|pipe run|trigger|retry", when: outward, match: ["glab ci trigger deploy-prod"], not_match: ["glab ci view"] },
    { program: "az", path: "pipelines run|release", match: ["az pipelines run --name x"], not_match: ["az pipelines list"] },
    { program: "az", path: "pipelines release|variable|variable-group|build create|update|delete|cancel", match: ["az pipelines release create --definition-id 3"], not_match: ["az pipelines show"] },
    { program: "az", path: "repos|devops|boards policy|pr|security|user|service-endpoint|team|admin|extension|ref *", when: ({ args, operands }) => [...operands.slice(2, 5)].find(({ text }) => /^(?:create|update|delete|add|remove|set|set-vote|install|enable|disable|approve|bypass|lock|unlock|reset|reset-all|import)$/.test(text)) ?? args.find(({ text }) => /bypass/.test(text)),
      match: ["az repos pr update --id 3 --status completed", "az devops user add --email-id x@x.example"], not_match: ["az repos pr list", "az devops user list"] },
    { program: "jenkins-cli|jcli|circleci|drone|buildkite-agent|bk|travis|argo|argocd|tkn|concourse|fly-ci|spin|harness|octo|octopus|codefresh|semaphore|woodpecker-cli|appcenter|bitrise", path: "** build|promote|trigger|deploy|deploy-release|restart|submit|sync|run|start|rollback|approve|env|secret|set",
      when: ({ operands }) => operands.find(({ text }) => /^(?:promote|deploy|deploy-release|sync|rollback|approve|secret)$/.test(text)) ?? operands.find(({ text }) => OUTWARD.test(text)), match: ["drone build promote a/b 3 production", "argocd app sync shop-prod"], not_match: ["argocd app list", "circleci config validate"] },
    { program: "jira|acli|linear|trello|asana|clickup|notion|confluence|servicenow|pagerduty|pd|opsgenie|statuspage", path: "** create|edit|move|transition|assign|delete|bulk|ack|resolve|acknowledge|comment|close", rule: "publishing.post", reason: POSTS, match: ["jira issue move ABC-1 Done", "pd incident ack -i X"], not_match: ["jira issue list"] },
  ] },
  { program: "kubectl|oc", taking: "n namespace p patch type f filename context", dry: "dry-run", path: "set image|env|resources|serviceaccount|sa|subject|selector", when: ({ args, operands }) => !args.some(({ text }) => /^--(?:list|local)/.test(text)) ? operands[0] : undefined, rule: "container.change", reason: "changes what runs in a cluster",
    match: ["kubectl set image deploy/web web=x:2 -n prod"], not_match: ["kubectl set env deploy/web --list"] },
  { program: "aws", dry: "dry-run", path: "s3api put-bucket-versioning|put-bucket-policy|put-bucket-acl|put-object-acl|put-public-access-block|delete-public-access-block|put-bucket-lifecycle-configuration|put-bucket-replication|put-bucket-website|put-bucket-cors|put-bucket-encryption", rule: "cloud.rights", reason: "changes who can use a store, or how long it keeps what it holds",
    match: ["aws s3api put-bucket-versioning --bucket b --versioning-configuration Status=Suspended"], not_match: ["aws s3api get-bucket-policy --bucket b"] },
  { rule: "package.publish", reason: PUBLISHES, dry: "dry-run n", tools: [
    { program: "docker|podman|nerdctl|buildah|img|finch", path: "image? push", match: ["docker push acme/shop:latest"], not_match: ["docker push localhost:5000/x", "docker pull x"], when: ({ rest }) => rest.find(({ text }) => !/^(?:localhost|127\.)/.test(text)) },
    { program: "docker", path: "buildx? build|bake", options: "push", match: ["docker buildx build --push -t acme/x ."], not_match: ["docker build -t x ."] },
    { program: "skopeo|crane|oras|regctl|gcrane|imgpkg|cosign|notation|kbld|ko|jib|pack|helm|flux|porter|wasm-to-oci|cnab-to-oci|apko|melange|ctr", path: "** push|copy|cp|publish|upload|append|mutate|attest|sign|tag|delete|sync",
      when: ({ operands, args }) => operands.slice(0, 2).some(({ text }) => /^(?:push|publish|upload|append|attest|delete)$/.test(text)) || args.slice(1).some(({ text }) => /^docker:\/\/(?!localhost|127\.)/.test(text) && text === args.at(-1)?.text),
      match: ["skopeo copy docker-archive:a.tar docker://x.example/a", "crane push a.tar x.example/a", "helm push a.tgz oci://x.example/c"], not_match: ["skopeo copy docker://alpine dir:a", "crane digest alpine"] },
    { program: "snapcraft|flatpak-builder|fpm-publish|ubports", path: "upload|release|push|promote|close|register", match: ["snapcraft upload a.snap --release=stable"], not_match: ["snapcraft pack"] },
    { program: "fastlane|supply|deliver|pilot|gym-upload", path: "** deliver|supply|pilot|upload_to_app_store|upload_to_play_store|release|beta|submit", match: ["fastlane supply --track production"], not_match: ["fastlane lanes"] },
    { program: "xcrun|altool|notarytool|iTMSTransporter", word: /^(?:--upload-(?:app|package)|-m|submit)$/, match: ["xcrun altool --upload-app -f a.ipa"], not_match: ["xcrun --find clang"] },
    { program: "pod", path: "trunk push|delete|deprecate|add-owner|remove-owner", match: ["pod trunk push a.podspec"], not_match: ["pod install"] },
    { program: "mix|rebar3|gleam", path: "hex.publish|hex.retire|hex.owner|hex|publish", when: ({ operands }) => operands[0]?.text.startsWith("hex.") === true || operands.slice(0, 2).some(({ text }) => /^publish|^cut$|^retire$/.test(text)), match: ["mix hex.publish --yes", "rebar3 hex publish"], not_match: ["mix hex.info jason", "mix test"] },
    { program: "dart|flutter", path: "pub publish|uploader", match: ["dart pub publish -f"], not_match: ["dart pub get"] },
    { program: "pub|elm|nimble|jsr|deno|bun|opam|dub|spago|purs|janet|jpm|shards|zef|fez|raco|nuclide|forge|sbt|lein|clj|luarocks|cabal|stack|anaconda|conda-build|cpan-upload|mint|pkgx|haxelib|vpm|v|hackage|soldeer|wally|roblox|rojo|thunderstore|tcli|itch|butler|steamcmd|modrinth|tfx|web-ext|chrome-webstore-upload|cws|edge-upload|packagecloud|package_cloud|cloudsmith|gemfury|fury|jfrog|jf|rt|curl-artifactory|balena|particle|arduino-upload|galaxy",
      path: "publish|upload|push|deploy|sign|submit|release|register|pub", when: (call) => !/^(?:lein|clj|sbt|forge|v)$/.test(call.command.program) || call.find(/^(?:publish|deploy|release)/), match: ["elm publish", "deno publish", "butler push build me/game:win", "luarocks upload a.rockspec", "anaconda upload a.tar.bz2", "lein deploy clojars"],
      not_match: ["deno test", "bun run build", "cabal build"] },
    { program: "haxelib", path: "submit", match: ["haxelib submit a.zip"], not_match: ["haxelib list"] },
    { program: "ansible-galaxy", path: "collection|role publish|import|delete", match: ["ansible-galaxy collection publish a.tar.gz"], not_match: ["ansible-galaxy collection list"] },
    { program: "huggingface-cli|hf|kaggle|modelscope|wandb|dvc|clearml-data|comet|roboflow", path: "** upload|upload-large-folder|create|version|push|publish|submit", when: ({ operands }) => operands.slice(0, 2).find(({ text }) => /^(?:upload|upload-large-folder|publish|push|submit)$/.test(text)) ?? (operands.some(({ text }) => /^(?:datasets|models|kernels)$/.test(text)) ? operands[1] : undefined),
      match: ["hf upload me/x .", "kaggle datasets create -p data"], not_match: ["hf download x", "wandb status"] },
    { program: "gist|gh-gist", word: /./, match: ["gist a.txt"] },
    { program: "youtube-upload|youtubeuploader|vimeo|peertube-cli|ia|rtorrent-publish|twitch|wp-publish|ghost-publish|surge", path: "upload|publish|live|metadata|delete", match: ["ia upload x a.zip"], not_match: ["ia search x"] },
    { program: "youtube-upload|youtubeuploader", word: /./, match: ["youtube-upload --title x a.mp4"] },
  ] },
  { rule: "publishing.post", reason: POSTS, dry: "dry-run", tools: [
    { program: "telegram-send|telegram-cli|tg|signal-cli|matrix-commander|matrix-commander-rs|slackcat|slack|slack-cli|slackterm|toot|twurl|t|bsky|nostril|noscl|zulip-send|irccat|discord.sh|discordo|disco|mattermost|mmctl|rocketchat|wacli|whatsapp-cli|mudslide|nchat|yowsup-cli|sendxmpp|go-sendxmpp|profanity|linkedin|reddit|rtv|tuir|facebook-cli|fbcmd|instabot|kdeconnect-cli|gnokii|gammu|smstools|sendsms|twilio|vonage|nexmo|plivo|textbelt|mailgun|sendgrid|postmark|resend|mailchimp|brevo",
      word: /^(?:send|post|chat|dm|update|tweet|reply|publish|message|-m|--message|-d|--data|--send-sms|--share|--sendsms|sendsms|api:\S+|sms|skeet|toot|boost|invite|file|upload|event|note|messages?:send|email:\S+)$|create$/, match: ["signal-cli -a +1 send -m hi +2", "toot post hello", "twurl -d 'status=x' /1.1/statuses/update.json", "telegram-send --message hi"], unless: /^(?:--?help|-h|list\w*|--version|receive)$/, not_match: ["signal-cli listAccounts", "toot timeline"] },
    { program: "gam|gamadv-xtd3|gyb|cpan-admin|m365|o365|workspacecli", path: "** create|update|delete|suspend|add|remove|wipe|transfer|reset|forward|delegate|sendemail|undelete|deprovision|trash|set", match: ["gam create user x", "gam user x delegate to y"], not_match: ["gam info user x"] },
  ] },
]);
