import { unlisted } from "./listed-uses.js";
import { type Condition, subject } from "./row.js";

const CHANGES = "may change, open or cost something that is online";

/** `az rest` and `fly curl` ask for whatever address and method they are given. */
const asksOnly: Condition = ({ args }) => {
  const method = args.findIndex(({ text }) => /^(?:--method|-m|-X|--request)(?:=|$)/.test(text));
  if (method < 0) return undefined;
  const value = /=(.*)/s.exec(args[method]?.text ?? "")?.[1] ?? args[method + 1]?.text ?? "";
  return /^(?:get|head|options)$/i.test(value) ? undefined : args[method];
};

/** `--desired-count 500`: what such a number of anything costs. */
const MANY =
  /^(?:--(?:[\w-]*count|[\w-]*capacity|max-size|min-size|max|num-nodes|nodes(?:-max|-min)?|replicas|(?:max|min)-(?:instances|replicas)|scale)[ =])(?:\w[\w-]*=)?(?:[5-9]\d|[1-9]\d{2,})$/;
const many: Condition = ({ args }) =>
  args.find(({ text }, index) => MANY.test(text) || MANY.test(`${args[index - 1]?.text ?? ""} ${text}`));

const AWS_TAKING =
  "profile region output query endpoint-url cli-read-timeout cli-connect-timeout color ca-bundle cli-binary-format cli-input-json cli-input-yaml";
const CLOUD_TAKING =
  "profile p region r output o format f query project account configuration zone subscription g resource-group n name t access-token config context compartment-id c os-cloud verbosity filter impersonate-service-account";
const HOSTING_TAKING =
  "a app r remote t token scope cwd S s site c config n name org o project p project-ref project-id e env E environment P profile team service dir d message m filter namespace-id binding preview";

/** Uses of the tools of clouds, hosts and forges that are known to look or are everyday work; of the others a person hears. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("unlisted", [
  { family: "unlisted", reason: CHANGES, dry: "dry-run dryrun generate-cli-skeleton what-if no-execute-changeset local", tools: [
    { program: "aws", taking: AWS_TAKING, unless: /^help$/, not_match: [
        "aws s3 sync . s3://bucket", "aws ec2 wait instance-running --instance-ids i-1", "aws lambda invoke --function-name f out.json", "aws --endpoint-url http://localhost:4566 sqs create-queue --queue-name q",
        "aws ecs update-service --service web --desired-count 3", "aws s3 rm help", "aws configure set region eu-west-1", "aws dynamodb query --table-name t"], rows: [
      { family: "cloud", when: unlisted(`
          * LOOK; s3 ls|cp|sync|mb; s3api get-*|head-*|list-*|put-object; configure|sso|login|logout|history; sts decode-*; iam generate-*; ecr|ecr-public get-login*; eks update-kubeconfig|get-token;
          lambda invoke; logs start-query|stop-query|start-live-tail; cloudformation package|create-change-set|detect-*; codeartifact login; ssm start-session; ecs execute-command|update-service;
          sqs receive-message|send-message; bedrock-runtime|bedrock-agent-runtime; athena start-query-execution|stop-query-execution; cloudfront create-invalidation; codebuild start-build; stepfunctions start-execution|stop-execution;
          ec2-instance-connect ssh; apigateway test-*; s3api abort-multipart-upload; resourcegroupstaggingapi *; * remove-tags*; ec2 create-tags; docs|help`),
        match: ["aws ec2 purchase-reserved-instances-offering --instance-count 1", "aws rds modify-db-snapshot-attribute --attribute-name restore --values-to-add all", "aws lambda put-function-concurrency --function-name f", "aws ec2 $VERB", "aws ec2 run-instances --image-id a --instance-type t3.micro"] },
      { family: "cloud", when: ({ operands, args }) => operands[1]?.text === "update-service" ? args.find(({ text }) => /^--(?!cluster|service|desired-count|(?:no-)?force-new-deployment|region|profile|output|query|endpoint-url|no-cli-)/.test(text)) : undefined, rule: "cloud.code", reason: "replaces what runs online",
        match: ["aws ecs update-service --cluster c --service web --task-definition old:1"], not_match: ["aws ecs update-service --cluster c --service web --force-new-deployment"] },
      { family: "money", rule: "money.rented", when: many, reason: "orders a great number of something that is paid for", match: ["aws ecs update-service --service web --desired-count 500"] },
    ] },
    { program: "gcloud", isNamed: true, taking: CLOUD_TAKING, not_match: [
        "gcloud compute instances list", "gcloud run deploy api --image x --no-allow-unauthenticated", "gcloud deploy releases list", "gcloud beta run services describe api", "gcloud sql connect db"], rows: [
      { family: "cloud", when: unlisted(`
          ** LOOK; init|info|version|help|topic|cheat-sheet|feedback|survey|config|components|meta|emulators; alpha|beta config|components|emulators; auth login|list|activate-service-account|application-default|configure-docker|revoke|print-*;
          ** cp|rsync|hash|du|ssh|scp|config-ssh|start-iap-tunnel|get-credentials|connect|proxy|pull|call|simulate|ask; app|run|functions|alpha|beta deploy|run|functions; alpha|beta app|run|functions deploy; app deploy|logs|browse;
           builds submit; artifacts print-settings; source repos clone; pubsub topics publish; emulators; docker; cloud-shell`),
        match: ["gcloud container clusters resize prod --num-nodes 3", "gcloud compute instances create list --machine-type e2-small", "gcloud services enable x.googleapis.com"] },
      { rule: "money.rented", when: many, reason: "orders a great number of something that is paid for", match: ["gcloud run deploy api --image x --max-instances 1000"], not_match: ["gcloud run deploy api --image x --max-instances 3"] },
    ] },
    { program: "az", isNamed: true, taking: CLOUD_TAKING, not_match: [
        "az vm list -d -o table", "az rest --url https://graph.microsoft.com/v1.0/me", "az acr build -t a -r acme .", "az deployment group what-if -g rg -f main.bicep", "az storage blob upload -c c -f a.txt -n a.txt"], rows: [
      { family: "cloud", rule: "cloud.rest", when: (call) => (call.operand(0) === "rest" ? asksOnly(call) : undefined), match: ["az rest --method post --url https://management.azure.com/x"], not_match: ["az rest --method GET --url https://graph.microsoft.com/v1.0/me"] },
      { family: "cloud", when: unlisted(`
          ** LOOK; ** list-*|get-*|show-*|check-*; login|logout|configure|config|extension|upgrade|version|find|interactive|feedback|self-test|rest|bicep|cloud|cache|init|survey; account set|clear|list-*; acr login|build|run|check-*; aks get-credentials|install-cli|browse|get-versions|check-acr;
          deployment group|sub|tenant|mg what-if|validate; storage blob|file|fs upload|upload-batch|download|download-batch|sync|exists; webapp|staticwebapp|functionapp|containerapp up|deploy|ssh|log|logs|browse|exec;
          container exec|logs|attach|export; ssh vm|config; network bastion ssh|tunnel; devops configure|login|logout; repos|boards|pipelines|artifacts; ml job stream|download; monitor log-analytics|app-insights query; k8s-extension|k8sconfiguration list`),
        match: ["az ad app credential reset --id x", "az vmss scale -g rg -n web --new-capacity 3", "az vm start -g rg -n x", "az group create -n list -l westeurope"] },
      { rule: "money.rented", when: many, reason: "orders a great number of something that is paid for", match: ["az containerapp up -n x --max-replicas 500"] },
    ] },
    { program: "doctl|oci|linode-cli|linode|hcloud|scw|vultr-cli|vultr|upctl|exo|civo|openstack|ovhcloud|ibmcloud|yc|equinix|cherryctl|gridscale|ionosctl|otc|stackit|aliyun|tccli|hetzner|kamatera|lightsail", isNamed: true,
      taking: CLOUD_TAKING, not_match: [
        "doctl compute droplet list", "hcloud server describe web", "hcloud context use dev", "openstack server show web", "oci os object put --bucket-name b --file a.txt", "aliyun ecs DescribeInstances", "scw instance server list", "ibmcloud target", "doctl kubernetes cluster kubeconfig save dev"], rows: [
      { family: "cloud", when: unlisted(`
          ** LOOK; ** *-list|*-ls|*-show|*-get; ** Describe*|List*|Get*|Query*|Check*|Search*; ** ssh|kubeconfig|get-credentials|proxy|console|download|regions; init|login|logout|target|regions|plugin|config|configure|context|auth|api|update; registry|cr login|logout;
          oss|obj|object|os ls|cp|cat|stat|put|get|sync|hash|object; os object *; compute ssh|scp; kubernetes|ks cluster kubeconfig|config; setup; session; serverless functions invoke; raw-request; ce app|project|job|buildrun *s|select|get|logs|events`),
        match: ["doctl compute droplet create w --size s-1vcpu-1gb", "hcloud server create --name list", "oci compute instance launch --shape x", "openstack quota set --cores 9 p", "aliyun ecs RunInstances --Amount 1", "linode-cli lke pool-update 1 2 --count 3"] },
    ] },
    { program: "heroku", isNamed: true, taking: "a app r remote s size t type", not_match: [
        "heroku logs --tail", "heroku ps -a dev", "heroku ps:scale web=2 worker=1", "heroku pg:psql -c 'select 1'", "heroku config:get PORT"], rows: [
      { family: "cloud", when: unlisted(`
          LOOK; ps:scale FEW; *:scale FEW; apps|addons|config|ps|pg|redis|domains|regions|access|members|keys|pipelines|buildpacks|certs|labs|features|maintenance|stack|webhooks|drains|notifications|plugins|ci|builds|spaces|teams|orgs|authorizations|clients|sessions|2fa|container|kafka|autocomplete|which|run|local|login|logout|repo;
          auth:*|git:*|local:*|container:login|container:push|plugins:*|ps:exec|ps:copy|ps:forward|ps:socks|pg:psql|pg:ps|pg:backups|pg:diagnose|pg:locks|pg:outliers|pg:bloat|pg:*-*|redis:cli|addons:docs|addons:plans|addons:services|ci:*|*:info|*:wait|maintenance:off|psql|config:edit`),
        match: ["heroku ps:scale web=100:Performance-L", "heroku addons:create heroku-postgresql:premium-9", "heroku pipelines:promote -a staging"] },
    ] },
    { program: "fly|flyctl", isNamed: true, taking: HOSTING_TAKING, not_match: ["fly status -a core", "fly deploy --remote-only", "fly scale count 2", "fly machine list", "fly ssh console"], rows: [
      { family: "cloud", when: unlisted(`
          LOOK; * LOOK; deploy|auth|launch|proxy|dashboard|dash|console|agent|settings|jobs|platform|incidents|checks|image|doctor|curl|sftp|config|services|ping|dig|mcp; scale show|count FEW; scale count FEW; ssh console|sftp; machine|machines|m exec|start; postgres|pg|mpg|redis|mysql connect|db|proxy; wireguard list; apps open|releases; secrets deploy`),
        match: ["fly scale count 300", "fly scale vm a100-80gb", "fly machine run alpine", "fly tokens create org", "fly apps destroy shop"] },
    ] },
    { program: "vercel|vc", isNamed: true, taking: HOSTING_TAKING, not_match: ["vercel", "vercel deploy", "vercel env pull .env.local", "vercel ./dist", "vercel inspect x.vercel.app", "vercel redeploy x"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; deploy|dev|develop|build|link|login|logout|pull|init|bisect|redeploy|env|telemetry|guidance|switch|.*|/*|*/*|dist|build|out|public|app|web|api|src; integration|integration-resource|project|domains|dns|certs|alias|teams|target|rolling-release ls|list|inspect|open"),
        match: ["vercel promote x", "vercel domains buy x.example", "vercel alias set a b"] },
    ] },
    { program: "netlify|ntl", isNamed: true, taking: HOSTING_TAKING, not_match: ["netlify deploy", "netlify dev", "netlify env:list", "netlify functions:invoke hello"], rows: [
      { family: "cloud", when: unlisted("LOOK; deploy|dev|build|init|link|unlink|login|logout|switch|serve|recipes|clone|env:*|functions:*|logs:*|open:*|dev:*|completion:*|blobs:get|blobs:list|sites|sites:list; api get*|list*|show*|search*"),
        match: ["netlify sites:create", "netlify api createSiteDeploy", "netlify blobs:set store key value"] },
    ] },
    { program: "wrangler|cf-wrangler", isNamed: true, taking: HOSTING_TAKING, not_match: ["wrangler deploy", "wrangler dev", "wrangler kv key put foo bar --binding KV --local", "wrangler d1 execute prod --command 'SELECT 1'", "wrangler pages deploy dist"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; * * LOOK; deploy|publish|dev|build|init|generate|login|logout|tail|types|telemetry|check|setup; * * get|list|download|pull; d1 execute|export|insights; d1 migrations create|list; pages dev|deploy|publish; pages functions build; pages deployment tail; versions upload|view; r2 object get; hyperdrive get; vectorize query|info|get*; ai models|finetune; workflows instances|describe; containers build|images|info"),
        match: ["wrangler kv key put foo bar --namespace-id x", "wrangler r2 bucket dev-url enable b", "wrangler d1 migrations apply db --remote", "wrangler delete", "wrangler rollback"] },
    ] },
    { program: "railway|render|koyeb|northflank|zeabur|coolify|kamal|dokku|scalingo|cf|cf7|cf8|deno-deploy|deployctl|encore|qovery|cloudcli|sevalla|stormkit", isNamed: true, taking: HOSTING_TAKING, not_match: ["railway up", "railway logs", "railway run npm start", "cf apps", "kamal deploy", "cf push app"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; up|deploy|deploys|link|unlink|login|logout|init|run|shell|ssh|connect|dev|environment|service|services|deployments|psql|workspace|docs|local|build|a|apps|s|services|routes|domains|orgs|spaces|marketplace|m|target|t|api|push|p|env|e|auth|buildpacks|oauth-token|proxy|console|exec|logs; *:list|*:info|*:report|*:show|*:logs|logs:*; ps:scale FEW; app|server|proxy|accessory|audit|config|details|lock details|logs|version|images|containers; config|variables|vars|variable; apps:exists|apps:report"),
        match: ["railway scale --replicas 3", "railway down", "cf delete app -f", "cf scale web -i 9", "dokku apps:destroy x"] },
    ] },
    { program: "supabase", isNamed: true, taking: HOSTING_TAKING, not_match: ["supabase start", "supabase db diff -f x", "supabase db reset --local", "supabase migration up", "supabase functions deploy hello"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; start|stop|init|login|logout|link|unlink|gen|services|bootstrap|inspect|test|completion; db diff|pull|dump|lint|start|test; migration new|up|squash|fetch|list; functions serve|new|download|deploy; seed|snippets; storage ls|cp"),
        match: ["supabase db push", "supabase projects create x", "supabase network-restrictions update --db-allow-cidr 10.0.0.0/8", "supabase db reset --linked"] },
    ] },
    { program: "firebase", isNamed: true, taking: "P project only except config account token", not_match: ["firebase deploy --only hosting", "firebase emulators:start", "firebase use dev", "firebase projects:list"], rows: [
      { family: "cloud", when: unlisted("LOOK; deploy|use|init|serve|login|logout|help|open|experiments:*|login:*|emulators:*|setup:*|hosting:channel:deploy|hosting:channel:open|hosting:channel:create|functions:log|functions:shell|apps:sdkconfig|database:get|database:profile|firestore:indexes|firestore:operations:*|remoteconfig:get|ext:info|ext|target|*:list|*:get|*:describe|functions:secrets:get|functions:config:get|functions:config:export|dataconnect:sdk:*|dataconnect:compile|dataconnect:sql:diff|appdistribution:*:list|crashlytics:*|mcp|studio:export"),
        match: ["firebase auth:export users.json", "firebase database:set / data.json", "firebase ext:install x"] },
    ] },
    { program: "turso|pscale|planetscale|neon|neonctl|xata|upstash|appwrite|confluent|ccloud|temporal|atlas|astra|aiven|avn|cockroach-cloud|redpanda|rpk|materialize|tinybird|convex|prisma-cloud|motherduck|nhost|modal|runpodctl|vastai|lambda-cloud|brev|paperspace|flyte|coreweave|cerebrium|baseten|truss|dstack", isNamed: true, taking: HOSTING_TAKING, not_match: ["turso db list", "neonctl branches list", "modal run app.py", "temporal workflow list", "convex dev", "rpk topic list", "atlas clusters list"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; * * LOOK; auth|login|logout|init|dev|run|serve|shell|config|context|set-context|profile|completion|cs|connection-string|me|orgs|dev:*|codegen|import|deploy|predict|build|push|launch|ssh|logs|env|local|link|unlink; server start-dev|start; db shell; branch|branches show|schema|diff|get; topic consume|produce; workflow|activity|operator show|describe|list|query|count|trace|stack; shell; sql|mongosh; database|deployment connect|shell; auth *; volume ls|get; app logs|list; environment|env list|get; token current|info; check; status|queue|exec"),
        match: ["turso db create x", "neonctl branches reset main", "modal volume rm x", "atlas clusters create x", "temporal workflow terminate -w x", "vastai create instance 1"] },
    ] },
    { program: "terraform|tofu|terragrunt|terramate", isNamed: true, taking: "chdir var target var-file out terragrunt-working-dir terragrunt-config working-dir config queue-include-dir C", style: "go", not_match: ["terraform plan", "terraform state list", "terraform workspace select dev", "terragrunt run-all plan", "terraform test"], rows: [
      { family: "cloud", when: unlisted("LOOK; init|fmt|output|providers|get|console|graph|login|logout|metadata|modules|hclfmt|hcl|render|render-json|dag|scaffold|catalog|validate-inputs|terragrunt-info|graph-dependencies|output-module-groups|list|find|generate|experimental; state list|show|pull; workspace list|show|select|new; run-all|run|stack plan|init|validate|output|fmt|clean|generate|providers|show; run-all|run|stack run plan|init|validate|output; backend bootstrap; info"),
        match: ["terraform import aws_instance.web i-1", "terraform state mv a b", "terraform refresh", "terragrunt import a b"] },
    ] },
    { program: "pulumi", isNamed: true, taking: "C cwd s stack m message t target color", not_match: ["pulumi preview", "pulumi config set aws:region x", "pulumi stack select dev"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; pre|config|about|login|logout|new|plugin|schema|convert|gen-completion|install|package|console|ai|template; stack ls|select|init|output|graph|history|tag|unselect|export; org|env get|ls|open|init|get-default|set-default|edit; policy ls|new|group"),
        match: ["pulumi refresh -y", "pulumi import x y z", "pulumi destroy -y"] },
    ] },
    { program: "cdk|cdk8s|cdktf|sam|copilot|amplify|ampx|eb|sls|serverless|chalice|sst|zappa|nitric|pulumi-cdk|cdklocal|samlocal", isNamed: true, taking: "app a c context profile require-approval n name s stage region r f function e env t template", not_match: ["cdk deploy", "cdk synth", "sam local invoke Fn", "sls deploy --stage dev", "eb status", "sst dev"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; synth|synthesize|ls|init|deploy|watch|context|acknowledge|ack|notices|metadata|flags|build|local|package|sync|traces|offline|dev|invoke|start|web|print|config|pull|push|codegen|mock|configure|gen-policy|generate|new-project|console|ssh|printenv|use|create-app|bind|secrets|secret|hydrate|sandbox|run|new|template|state|schema|convert|get|install|plugin|login|logout|telemetry; remote invoke|callback; pipeline init; app|svc|env|job|task|pipeline ls|show|status|logs; svc package|logs|exec; task run; dynamodb start|install"),
        match: ["cdk bootstrap", "sam publish", "eb scale 50", "amplify env remove dev", "sls remove", "copilot env init"], not_match: ["cdk import --dry-run"] },
    ] },
    { program: "vault|bao", isNamed: true, taking: "namespace address mount field format version versions ca-cert", style: "go", not_match: ["vault status", "vault kv list secret/", "vault login -method=oidc", "vault server -dev"], rows: [
      { family: "cloud", when: unlisted("LOOK; login|list|read|path-help|server|agent|proxy|print|debug|monitor|version-history|hcp; kv list|get; kv metadata get; * list|read|lookup|help|status; operator members|usage|diagnose|key-status; operator raft list-peers; token capabilities|lookup|renew; transit import-version"),
        match: ["vault write auth/userpass/users/x policies=root", "vault policy write admin p.hcl", "vault token create -policy=root", "vault kv put secret/x a=b"] },
    ] },
    { program: "consul|nomad|waypoint|packer", isNamed: true, taking: "address namespace region http-addr token datacenter", style: "go", not_match: ["consul members", "consul kv get app", "nomad job plan a.nomad", "nomad alloc logs abc", "packer build .", "consul agent -dev"], rows: [
      { family: "cloud", when: unlisted("LOOK; * LOOK; * * LOOK; members|agent|exec|catalog|info|rtt|debug|troubleshoot|keygen|login|logout|connect|authenticate|build|fmt|init|inspect|hcl2_upgrade|plugins|console|ui|fix; kv get|export; alloc logs|fs|exec|status; job plan|init|inspect|history|allocs|deployments|validate|status; node status; server members; deployment|eval|volume|quota|recommendation|service status|list|info; config read|list; snapshot inspect|save; var get|list; intention check|match; operator raft list-peers; operator api; fmt; ui; setup"),
        match: ["consul kv put a b", "consul acl token create -policy-name global-management", "nomad job scale web 500", "nomad job run web.nomad"] },
    ] },
    { program: "argocd|flux|eksctl|kops|rancher|velero|istioctl|linkerd|ccloud|clusterctl|crossplane|kubefed|tkn|argo|tctl|tsh|teleport|rosa|ocm|gcloud-gke|kubeadm|talosctl|rke|rke2|k0sctl|capi|okteto|devspace", isNamed: true, taking: "n namespace server grpc-web kube-context context cluster region r f name profile auth-token", not_match: ["argocd app get shop", "flux reconcile kustomization app", "eksctl get cluster", "istioctl analyze", "tsh ssh me@host", "argo submit w.yaml", "linkerd check"], rows: [
      { family: "container", when: unlisted("LOOK; * LOOK; * * LOOK; login|logout|relogin|context|contexts|ls|analyze|a|proxy-status|ps|proxy-config|pc|dashboard|check|viz|inject|export|build|render|trace|tree|reconcile|ssh|scp|kubeconfig|submit|retry|watch|resubmit|lint|dev|up|exec|sync|port-forward|speedtest|config-ssh|db|kube|play|recordings|mfa|generate|config; app diff|manifests|history|resources|logs|sync|wait|actions; x describe|precheck; utils describe-*|write-kubeconfig|schema; kube login|ls; kubernetes login; export *; config *; certs check-expiration; images *; version; upgrade plan; task|pipeline|taskrun|pipelinerun logs|start|list|describe; reconcile *; diff *; resource get; run; preflight; token list; cluster|addon list|get"),
        match: ["argocd cluster add prod", "argocd app set shop --revision x", "eksctl create cluster --nodes 3", "flux bootstrap github --owner x", "kops update cluster x --yes"] },
    ] },
    { program: "gh", taking: "R repo H hostname q jq t template L limit", not_match: ["gh pr create --fill", "gh issue comment 3 -b ok", "gh run rerun 1 --failed", "gh release create v1.0", "gh repo fork cli/cli", "gh gist create notes.md"], rows: [
      { family: "git", when: unlisted(`
          LOOK; * LOOK; pr|issue|api|search|browse|co|status|completion|copilot|help|config|alias|gist|label|auth|at|attestation|preview|models|accessibility|reference|version|skill; repo list|view|clone|create|fork|sync|set-default|edit|gitignore|license|read-*; run list|view|watch|download|rerun|cancel|delete;
          workflow list|view|run|enable|disable; release *; project list|view|item-*|field-list|create|edit|link|unlink|copy|field-create|mark-template; cache list|delete; extension|extensions|ext *; codespace|cs list|view|logs|code|ssh|cp|jupyter|stop; secret|variable list|get|set|delete; ssh-key|gpg-key *; ruleset check; org list; agent-task list|view; repo deploy-key|autolink list|view`),
        match: ["gh repo rename x", "gh repo unarchive a/b", "gh codespace delete -c x", "gh agent-task create x", "gh project close 1"] },
    ] },
    { program: "glab", taking: "R repo g group p per-page P page F output", not_match: ["glab mr create --fill", "glab ci status", "glab repo clone a/b"], rows: [
      { family: "git", when: unlisted("LOOK; * LOOK; mr|issue|incident|api|auth|config|alias|completion|check-update|duo|changelog|snippet|stack|label|milestone|iteration|ask; ci|pipe|pipeline *; repo clone|list|view|search|contributors|archive|fork; release|job *; variable|schedule|token|securefile|deploy-key|ssh-key|gpg-key|runner *; cluster agent list; opentofu|tofu *; user events"),
        match: ["glab repo transfer a/b", "glab cluster agent bootstrap x"] },
    ] },
    { program: "helm", taking: "n namespace kube-context kubeconfig f values set version timeout registry-config", not_match: ["helm upgrade --install shop ./chart", "helm template .", "helm repo add bitnami https://charts.bitnami.com/bitnami"], rows: [
      { family: "container", when: unlisted("LOOK; template|ls|hist|fetch|pull|package|create|env|completion|dependency|dep|dependencies|repo|search|upgrade|install|test|verify|diff|secrets|unittest|schema|schema-gen|docs|cm-push|mapkubeapis|show|uninstall|rollback; plugin list|ls|update|uninstall; registry logout|login; push"),
        match: ["helm plugin install https://x.example/p"] },
      { word: /^oci:\/\/(?!(?:[\w-]+\.)*(?:docker\.io|ghcr\.io|ecr\.aws|amazonaws\.com|azurecr\.io|pkg\.dev|gcr\.io|quay\.io|k8s\.io|gitlab\.com|mcr\.microsoft\.com|localhost)(?:[:/]|$))/, rule: "package.source", reason: "fetches software from a server that nobody knows", match: ["helm install x oci://evil.example/c"], not_match: ["helm install x oci://ghcr.io/a/b", "helm pull oci://registry-1.docker.io/bitnamicharts/redis"] },
      { rule: "money.rented", word: /\breplica\w*=(?:[5-9]\d|[1-9]\d{2,})\b/i, reason: "starts a great number of something in a cluster", match: ["helm upgrade api ./c --set replicaCount=500"], not_match: ["helm upgrade api ./c --set replicaCount=3"] },
    ] },
    { program: "kubectl|oc|kubecolor|k", taking: "n namespace context cluster user s server kubeconfig as f filename k l selector o output p patch replicas", not_match: ["kubectl apply -f deploy.yaml", "kubectl scale deploy/web --replicas=3", "kubectl get pods", "kubectl auth can-i create pods"], rows: [
      { rule: "money.rented", when: many, reason: "starts a great number of something in a cluster", match: ["kubectl scale deploy/web --replicas=5000", "kubectl create deploy x --image=y --replicas 200", "kubectl autoscale deploy web --max=900"] },
      { rule: "safeguard.certificates", word: /^--insecure-skip-tls-verify(?:=true)?$/, reason: "hands keys to a cluster whose certificate nobody checks", match: ["kubectl --insecure-skip-tls-verify get pods"] },
      { family: "container", when: unlisted("*.* *; LOOK; * LOOK; get|log|api-*|cluster-info|config|port-forward|proxy|exec|cp|attach|debug|apply|create|label|annotate|scale|autoscale|edit|expose|run|kustomize|convert|plugin|options|uncordon|krew|ctx|ns|neat|stern|replace|delete|drain|cordon|taint|patch|adm|policy; auth can-i|whoami; rollout status|history|restart|undo; set image|env|resources|selector; login|logout|project|projects|new-project|new-app|rsh|rsync|start-build|import-image|process|extract|observe|must-gather|registry|image; certificate deny"),
        match: ["kubectl certificate approve x", "kubectl auth reconcile -f x.yaml", "kubectl set serviceaccount deploy web admin"] },
    ] },
    { program: "docker|docker-compose|podman|nomad", taking: "H host c context f file p project-name", rows: [
      { rule: "money.rented", when: (call) => many(call) ?? (call.operands.slice(0, 3).some(({ text }) => text === "scale") ? call.find(/^[\w.-]+=(?:[5-9]\d|[1-9]\d{2,})$/) : undefined), reason: "starts a great number of containers", match: ["docker compose up -d --scale web=500", "docker service scale web=1000"], not_match: ["docker compose up -d --scale worker=3", "docker service scale web=4"] },
    ] },
  ] },
]);
