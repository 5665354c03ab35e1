import { installsFromPlainAddress } from "./packages.js";
import { type Call, type Condition, carriedAfter, subject } from "./row.js";

const DELETES = "deletes objects of a cluster";
const STOPS = "stops what runs in a cluster";
const ROLLS_BACK = "replaces what runs with an older version";
const RIGHTS = "changes rights in a cluster";
const WHOLE_CLUSTER = "removes a cluster with everything in it";
const RARELY = "deletes data or a thing others rely on";

/** Secrets printed with their content, not merely listed. */
function showsSecrets(call: Call): boolean {
  const printed = call
    .given("o", "output", "template")
    .some(({ text }) => !/^(?:wide|name|custom-columns.*)$/.test(text));
  const kinds = call.rest.flatMap(({ text }) => (text.split("/")[0] ?? "").split(","));
  return printed && kinds.some((kind) => /^secrets?$/.test(kind));
}

const STARTED = "persistence.cluster-login";

const RISKY_PATCH =
  /finalizers"?\s*:\s*(?:null|\[\])|"replicas"\s*:\s*0\b|\$patch"?\s*:\s*"?delete|"op"\s*:\s*"remove"|unschedulable"?\s*:\s*true/;
/** What a manifest takes from the nodes, opens to everybody or gives to itself. */
const TAKES_NODE =
  /\b(?:privileged|hostPID|hostIPC|hostNetwork)["']?\s*:\s*["']?true|\bhostPath["']?\s*:|\/(?:hostNetwork|hostPID|hostIPC|privileged)["']\s*,\s*["']value["']\s*:\s*true|\bnsenter\b|\/(?:docker|containerd|crio)\.sock\b/;
const OPENS = /\btype["']?\s*:\s*["']?LoadBalancer\b|\bexternalIPs["']?\s*:|["'\s[]0\.0\.0\.0\/0/;
const INTERNAL =
  /(?:load-balancer-(?:internal|type)|internal-load-balancer|load-balancer-scheme)["']?\s*:\s*["']?(?:true|internal|0\.0)/i;
const RULES_CLUSTER =
  /\bname["']?\s*:\s*["']?(?:cluster-admin|admin|system:masters)\b|\bkind["']?\s*:\s*["']?(?:Mutating|Validating)WebhookConfiguration|(?:verbs|resources|apiGroups)["']?\s*:\s*\[\s*["']\*["']/;
const GREAT_NUMBER =
  /\b(?:replicas|parallelism|completions|maxReplicas)["']?\s*:\s*["']?(?:[5-9]\d|[1-9]\d{2,})\b/;
/** What runs in a cluster, as opposed to what rules it; extensions that make such things are among them. */
const KIND = /(?:^|[\n{,])\s*["']?kind["']?\s*:\s*["']?([A-Z]\w{1,60})/g;
const USUAL_KIND =
  /^(?:Pod|PodTemplate|Deployment|StatefulSet|DaemonSet|ReplicaSet|ReplicationController|Job|CronJob|Service|Ingress|ConfigMap|Secret|ServiceAccount|Namespace|PersistentVolumeClaim|HorizontalPodAutoscaler|PodDisruptionBudget|Endpoints|EndpointSlice|Kustomization|HelmRelease|HelmRepository|Application|Certificate|Issuer|ServiceMonitor|PodMonitor|PrometheusRule|VirtualService|DestinationRule|HTTPRoute|Rollout|Workflow|WorkflowTemplate|Task|Pipeline|PipelineRun|TaskRun|ExternalSecret|SealedSecret|ScaledObject|List|Cluster|Config|Group|User|Role|ClusterRole|RoleBinding|ClusterRoleBinding)$/;
const LONGEST_MANIFEST = 20_000;

/** What is told to a cluster on the command line itself. */
const manifest: Condition = (call) => {
  const { input } = call.command;
  const words = [...call.given("p", "patch", "overrides"), ...(input.kind === "text" ? [input.text] : [])];
  for (const word of words) {
    const text = word.text.slice(0, LONGEST_MANIFEST);
    if (TAKES_NODE.test(text))
      return { word, reason: "starts something with rights on the nodes of a cluster" };
    const kind = [...text.matchAll(KIND)].find(([, name = ""]) => !USUAL_KIND.test(name));
    if (kind !== undefined) return { word, reason: `changes what a cluster itself is made of: ${kind[1]}` };
    if (OPENS.test(text) && !INTERNAL.test(text))
      return { word, reason: "opens something in a cluster to everybody" };
    if (RULES_CLUSTER.test(text)) return { word, reason: RIGHTS };
    if (GREAT_NUMBER.test(text)) return { word, reason: "starts a great number of something in a cluster" };
  }
  return undefined;
};

/** `create deploy … -- sh -c …`, `run --image=who/x -- ./x`: not the shell somebody opens to look, which ends with it. */
const startsForGood: Condition = (call) => {
  const [verb, kind] = [call.operand(0), call.operand(1)];
  if (verb === "create")
    return /^(?:deploy(?:ment)?|job|cronjob|cj)$/.test(kind) ? call.operands[1] : undefined;
  if (verb !== "run" || call.has("rm", "i", "stdin", "t", "tty")) return undefined;
  return call.given("image").find(({ text }) => text.includes("/"));
};

/** Kubernetes and the other programs that run many machines as one. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("container", [
  { dry: "dry-run", tools: [
    { program: "kubectl|oc|kubecolor|k",
      taking: "n namespace context cluster user s server kubeconfig as as-group as-uid token request-timeout v cache-dir " +
        "certificate-authority client-certificate client-key tls-server-name profile field-manager f filename k " +
        "kustomize l selector o output replicas p patch type field-selector grace-period timeout c container image " +
        "overrides clusterrole role serviceaccount template sort-by cascade subresource to-revision tail since",
      not_match: ["kubectl get ns", "kubectl get pods"], rows: [
      { path: "delete", reason: DELETES, match: ["k delete pod x"] },
      { path: "drain|cordon|taint", reason: "takes a node out of service", match: ["kubectl drain node1"] },
      { path: "adm drain|cordon|taint|prune", reason: "takes nodes out of service or deletes objects",
        match: ["oc adm drain node1"] },
      { path: "adm policy *", reason: RIGHTS,
        match: ["oc adm policy add-cluster-role-to-user cluster-admin bob"] },
      { path: "policy add-role-to-user|add-cluster-role-to-user|remove-role-from-user", reason: RIGHTS,
        match: ["kubectl policy add-role-to-user"] },
      { path: "scale", when: (call) => call.given("replicas").some(({ text }) => Number(text) === 0),
        reason: STOPS, match: ["kubectl scale sts/db --replicas=0"],
        not_match: ["kubectl scale deploy/web --replicas=3"] },
      { path: "rollout undo", reason: ROLLS_BACK, match: ["kubectl rollout undo deployment/web"] },
      { path: "rollout restart", reason: STOPS, match: ["kubectl rollout restart deployment/web"] },
      { path: "apply|create|replace|patch|run|set", when: manifest, rule: "container.manifest", reason: "starts something with rights on the nodes of a cluster",
        match: ["kubectl patch svc web -p '{\"spec\":{\"type\":\"LoadBalancer\"}}'", "kubectl apply -f - <<< '{\"spec\":{\"hostPID\":true}}'", "kubectl apply -f - <<< 'spec: {replicas: 5000}'", "kubectl run x --image=alpine --overrides '{\"spec\":{\"hostPID\":true}}'", "kubectl create -f - <<< 'roleRef: {kind: ClusterRole, name: cluster-admin}'"],
        not_match: ["kubectl apply -f - <<< 'spec: {replicas: 3}'", "kubectl patch svc web -p '{\"spec\":{\"type\":\"ClusterIP\"}}'"] },
      { word: /^--$/, when: startsForGood, rule: "container.command", reason: "keeps a command running in a cluster",
        match: ["kubectl create deploy x --image=y -- sh -c 'sleep 9'", "kubectl run x --image=who/miner -- ./xm"],
        not_match: ["kubectl create job x --from=cronjob/y", "kubectl create deploy x --image=nginx", "kubectl run x --rm -it --image=nicolaka/netshoot -- bash", "kubectl run x --image=busybox -- sleep 60"] },
      { path: "apply|edit|patch|create|replace|set|scale|run|label|annotate|expose|autoscale|rollout|exec|cp|attach|debug", when: (call) => call.operand(1) === "status" || call.operand(1) === "history" ? undefined : call.given("n", "namespace").find(({ text }) => /^kube-/.test(text)) ?? call.find(/^kube-[\w-]+\//), rule: "container.system", reason: "changes what a cluster itself is made of",
        match: ["kubectl -n kube-system edit cm coredns", "kubectl cp kube-system/x:/etc/kubernetes/pki ."], not_match: ["kubectl -n kube-system get pods", "kubectl -n kube-system rollout status deploy/coredns"] },
      { path: "label|annotate", word: /pod-security\.kubernetes\.io\/\w+=privileged|-snippet=|(?:iam\.gke\.io|eks\.amazonaws\.com)\//, rule: "container.system", reason: RIGHTS, match: ["kubectl label ns default pod-security.kubernetes.io/enforce=privileged --overwrite"], not_match: ["kubectl label pod web app=x"] },
      { path: "expose", options: "type=LoadBalancer", reason: "opens something in a cluster to everybody", match: ["kubectl expose deploy web --type=LoadBalancer --port 80"], not_match: ["kubectl expose deploy web --port 80"] },
      { path: "create quota|priorityclass|pc|poddisruptionbudget|pdb|clusterrole", reason: "changes what a cluster itself is made of", match: ["kubectl create quota x --hard=pods=0"] },
      { path: "create service|svc loadbalancer", reason: "opens something in a cluster to everybody", match: ["kubectl create service loadbalancer web --tcp=80"] },
      { path: "replace", options: "force", reason: DELETES, match: ["kubectl replace --force -f pod.yaml"],
        not_match: ["kubectl replace"] },
      { path: "apply", options: "prune force", reason: DELETES,
        match: ["kubectl apply --prune -f dir -l app=x"], not_match: ["kubectl apply -f deploy.yaml"] },
      { path: "patch", when: (call) => call.given("p", "patch").find(({ text }) => RISKY_PATCH.test(text)),
        reason: "removes parts of an object or stops it",
        match: ['kubectl patch node n1 -p \'{"spec":{"unschedulable":true}}\''],
        not_match: ['kubectl patch deploy web -p \'{"spec":{"replicas":3}}\''] },
      { path: "create clusterrolebinding|rolebinding",
        when: (call) => call.given("clusterrole", "role").find(({ text }) => /admin|edit/.test(text)),
        reason: RIGHTS, match: ["kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=me"],
        not_match: ["kubectl create rolebinding x --clusterrole=view --user=me"] },
      { path: "get", when: showsSecrets, reason: "prints secrets of a cluster",
        match: ["kubectl get secrets -o json"], not_match: ["oc get pods"] },
      { path: "config view", options: "raw", reason: "prints keys to a cluster",
        match: ["kubectl config view --raw"], not_match: ["kubectl config view"] },
      { path: "config delete-context|delete-cluster|delete-user|unset",
        reason: "removes access to a cluster", match: ["kubectl config delete-context prod"] },
      { path: "config set-credentials", options: "exec-command", rule: STARTED, reason: "names a program that is started whenever the cluster is asked",
        match: ["kubectl config set-credentials me --exec-command=./x"], not_match: ["kubectl config set-credentials me --token=x"] },
      { path: "config set", word: /\bexec\.(?:command|args|env)\b|\bauth-provider\b/, rule: STARTED, reason: "names a program that is started whenever the cluster is asked",
        match: ["kubectl config set users.me.exec.command ./x"], not_match: ["kubectl config set contexts.a.namespace b"] },
      { path: "debug", when: ({ rest }) => rest.find(({ text }) => text.startsWith("node/")),
        reason: "opens a shell on a node", match: ["kubectl debug node/worker-1 -it --image=busybox"],
        not_match: ["kubectl debug pod/web -it --image=busybox"] },
      { path: "run",
        options: "privileged",
        reason: "starts a container with rights on the node",
        match: ["kubectl run x --image=alpine --privileged"],
        not_match: ["kubectl run x --image=alpine"] },
      { path: "certificate deny", reason: RIGHTS, match: ["kubectl certificate deny"] },
    ] },
    { program: "helm",
      taking: "n namespace kube-context kubeconfig f values set version timeout registry-config",
      not_match: ["helm search repo delete", "helm uninstall shop --dry-run"], rows: [
      { path: "uninstall|delete|del|un", reason: DELETES, match: ["helm uninstall shop"] },
      { path: "rollback", reason: ROLLS_BACK, match: ["helm -n prod rollback shop 1"] },
      { path: "upgrade", options: "force force-replace", reason: DELETES,
        match: ["helm upgrade shop ./chart --force"], not_match: ["helm upgrade --install shop ./chart"] },
      { when: installsFromPlainAddress, rule: "package.source",
        reason: "fetches software over an unprotected connection",
        match: ["helm repo add evil http://evil.example"], not_match: ["helm list -A"] },
    ] },
    { program: "minikube", taking: "p profile", carries: carriedAfter("kubectl", "kubectl"),
      not_match: ["minikube start", "minikube status"], rows: [
      { path: "delete|stop|pause", reason: STOPS, match: ["minikube delete"] },
    ] },
    { program: "microk8s", carries: carriedAfter("kubectl", "kubectl"), rows: [
      { path: "reset|stop|disable", reason: STOPS, match: ["microk8s reset"] },
      { family: "rare", path: "leave|remove-node", reason: RARELY, match: ["microk8s leave"] },
    ] },
    { program: "k3s", carries: carriedAfter("kubectl", "kubectl"), rows: [
      { path: "agent|server|token|certificate|etcd-snapshot|secrets-encrypt", reason: "makes this machine a part of a cluster, or changes what it is made of", match: ["k3s agent --server https://x.example:6443"] },
      { path: "crictl|ctr rm|rmi|stop", reason: DELETES, match: ["k3s crictl rm"] },
    ] },
    { program: "kind", taking: "name", path: "delete *", reason: DELETES, match: ["kind delete cluster"],
      not_match: ["kind get clusters"] },
    { program: "k3d", path: "* delete|stop", reason: DELETES, match: ["k3d cluster delete dev"],
      not_match: ["k3d cluster list"] },
    { program: "kubeadm", path: "reset", reason: "takes this machine out of its cluster",
      match: ["kubeadm reset -f"] },
    { program: "crictl", taking: "r i t c", path: "rm|rmi|rmp|stop|stopp", reason: DELETES,
      match: ["crictl rm -f abc"], not_match: ["crictl ps"] },
    { program: "ctr", taking: "n namespace a address", not_match: ["ctr images ls"], rows: [
      { path: "** rm|remove|delete|kill|del", reason: DELETES, match: ["ctr -n k8s.io containers rm abc"] },
      { path: "containers|c? run|create", word: /^--privileged$|src=\/(?:,|$)|^--(?:with-ns|cap-add)/, rule: "container.privileged",
        reason: "gives the container full rights on the host", match: ["ctr run --privileged img x"] },
    ] },
    { program: "okteto|skaffold|tilt|devspace|werf", path: "destroy|delete|down|purge|dismiss",
      reason: DELETES, match: ["skaffold delete"] },
    { program: "k3s-uninstall.sh|k3s-agent-uninstall.sh|rke2-uninstall.sh|k3s-killall.sh|rke2-killall.sh|microk8s.reset",
      dry: "", rule: "rare.use", reason: WHOLE_CLUSTER, match: ["k3s-uninstall.sh"],
      not_match: ["k3s-uninstall.sh --help"] },
    { program: "k0s", family: "rare", path: "reset|stop", reason: RARELY, match: ["k0s reset"] },
    { program: "rancher", family: "rare", path: "** rm|delete|remove", reason: RARELY, match: ["rancher rm"] },
  ] },
]);
