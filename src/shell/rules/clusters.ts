import type { Rule } from "../types.js";
import { danger, forPrograms, has, type VerbCall, type VerbRule, valuesOf, verbRule } from "./verb-table.js";

const DELETES = "deletes objects of a cluster";
const STOPS = "stops what runs in a cluster";
const ROLLS_BACK = "replaces what runs with an older version";
const MACHINE_STOPS = "stops or destroys a virtual machine";

const KUBE_TAKING = (
  "n namespace context cluster user s server kubeconfig as as-group as-uid token request-timeout v cache-dir " +
  "certificate-authority client-certificate client-key tls-server-name profile field-manager f filename k " +
  "kustomize l selector o output replicas p patch type field-selector grace-period timeout c container image " +
  "overrides clusterrole role serviceaccount template sort-by cascade subresource to-revision tail since"
).split(" ");

const zeroReplicas = (call: VerbCall): boolean =>
  valuesOf(call, "replicas").some(({ text }) => Number(text) === 0);
const patches = (call: VerbCall): string =>
  valuesOf(call, "p", "patch")
    .map(({ text }) => text)
    .join("\n");

/** Secrets printed with their content, not merely listed. */
function showsSecrets(call: VerbCall): boolean {
  const printed = valuesOf(call, "o", "output", "template").some(
    ({ text }) => !/^(?:wide|name|custom-columns.*)$/.test(text),
  );
  const kinds = call.rest.flatMap(({ text }) => (text.split("/")[0] ?? "").split(","));
  return printed && kinds.some((kind) => /^secrets?$/.test(kind));
}

const KUBE_VERBS: readonly VerbRule[] = [
  { path: "delete", reason: DELETES },
  { path: "drain|cordon|taint", reason: "takes a node out of service" },
  { path: "adm drain|cordon|taint|prune", reason: "takes nodes out of service or deletes objects" },
  { path: "adm policy *", reason: "changes rights in a cluster" },
  {
    path: "policy add-role-to-user|add-cluster-role-to-user|remove-role-from-user",
    reason: "changes rights in a cluster",
  },
  { path: "scale", reason: STOPS, when: zeroReplicas },
  { path: "rollout undo", reason: ROLLS_BACK },
  { path: "rollout restart", reason: STOPS },
  { path: "replace", reason: DELETES, when: (call) => has(call, "force") },
  { path: "apply", reason: DELETES, when: (call) => has(call, "prune", "force") },
  {
    path: "patch",
    reason: "removes parts of an object or stops it",
    when: (call) =>
      /finalizers"?\s*:\s*(?:null|\[\])|"replicas"\s*:\s*0\b|\$patch"?\s*:\s*"?delete|"op"\s*:\s*"remove"|unschedulable"?\s*:\s*true/.test(
        patches(call),
      ),
  },
  {
    path: "create clusterrolebinding|rolebinding",
    reason: "changes rights in a cluster",
    when: (call) => valuesOf(call, "clusterrole", "role").some(({ text }) => /admin|edit/.test(text)),
  },
  { path: "get", reason: "prints secrets of a cluster", when: showsSecrets },
  { path: "config view", reason: "prints keys to a cluster", when: (call) => has(call, "raw") },
  { path: "config delete-context|delete-cluster|delete-user|unset", reason: "removes access to a cluster" },
  {
    path: "debug",
    reason: "opens a shell on a node",
    when: ({ rest }) => rest.some(({ text }) => text.startsWith("node/")),
  },
  {
    path: "run",
    reason: "starts a container with rights on the node",
    when: (call) =>
      has(call, "privileged") ||
      valuesOf(call, "overrides").some(({ text }) =>
        /privileged"?\s*:\s*true|host(?:PID|IPC|Path)/.test(text),
      ),
  },
  { path: "certificate deny", reason: "changes rights in a cluster" },
];

const kubectl = verbRule({ family: "container", taking: KUBE_TAKING, dry: ["dry-run"], verbs: KUBE_VERBS });

/** `microk8s kubectl …`, `minikube kubectl -- …`, `k3s kubectl …`. */
function withKubectl(own: Rule): Rule {
  return (command) => {
    const at = command.args.findIndex(({ text }) => text === "kubectl");
    if (at < 0) return own(command);
    const inner = command.args.slice(at + 1);
    return kubectl({ ...command, args: inner[0]?.text === "--" ? inner.slice(1) : inner });
  };
}

const helm = verbRule({
  family: "container",
  taking: [
    "n",
    "namespace",
    "kube-context",
    "kubeconfig",
    "f",
    "values",
    "set",
    "version",
    "timeout",
    "registry-config",
  ],
  dry: ["dry-run"],
  verbs: [
    { path: "uninstall|delete|del|un", reason: DELETES },
    { path: "rollback", reason: ROLLS_BACK },
    { path: "upgrade", reason: DELETES, when: (call) => has(call, "force", "force-replace") },
  ],
});

const simple = (verbs: readonly VerbRule[], taking: readonly string[] = []): Rule =>
  verbRule({ family: "container", taking, dry: ["dry-run"], verbs });

const machines = (path: string): Rule => simple([{ path, reason: MACHINE_STOPS }]);

/** Cluster tools, other container runtimes and virtual machines. */
export const CLUSTERS: Readonly<Record<string, Rule>> = {
  ...forPrograms(["kubectl", "oc", "kubecolor", "k"], kubectl),
  helm,
  minikube: withKubectl(simple([{ path: "delete|stop|pause", reason: STOPS }], ["p", "profile"])),
  microk8s: withKubectl(
    simple([
      { path: "reset|stop", reason: STOPS },
      { path: "disable", reason: STOPS },
    ]),
  ),
  k3s: withKubectl(simple([{ path: "crictl|ctr rm|rmi|stop", reason: DELETES }])),
  kind: simple([{ path: "delete *", reason: DELETES }], ["name"]),
  k3d: simple([{ path: "* delete|stop", reason: DELETES }]),
  eksctl: simple([{ path: "delete|drain *", reason: DELETES }]),
  kops: simple([{ path: "delete *", reason: DELETES }], ["name", "state"]),
  kubeadm: simple([{ path: "reset", reason: "takes this machine out of its cluster" }]),
  crictl: simple([{ path: "rm|rmi|rmp|stop|stopp", reason: DELETES }], ["r", "i", "t", "c"]),
  ctr: simple(
    [{ path: "** rm|remove|delete|kill|del", reason: DELETES }],
    ["n", "namespace", "a", "address"],
  ),
  argocd: simple([
    { path: "app|appset|proj|repo|cluster delete|rm|delete-resource", reason: DELETES },
    { path: "app rollback", reason: ROLLS_BACK },
  ]),
  flux: simple([
    { path: "uninstall|delete", reason: DELETES },
    { path: "suspend", reason: STOPS },
  ]),
  istioctl: simple([
    {
      path: "uninstall|x",
      reason: DELETES,
      when: (call) => call.operands.some(({ text }) => text === "uninstall"),
    },
  ]),
  linkerd: simple([{ path: "uninstall", reason: DELETES }]),
  velero: simple([{ path: "** delete|uninstall", reason: DELETES }]),
  ...forPrograms(["lxc", "incus"], machines("delete|rm|stop|restart|rebuild")),
  ...forPrograms(["lxc-destroy", "lxc-stop"], () => danger("container.machine", MACHINE_STOPS)),
  vagrant: machines("destroy|halt|suspend|reload"),
  virsh: simple(
    [
      {
        path: "destroy|undefine|shutdown|reboot|reset|vol-delete|vol-wipe|pool-destroy|pool-delete|net-destroy|net-undefine|snapshot-delete|snapshot-revert|managedsave-remove",
        reason: MACHINE_STOPS,
      },
    ],
    ["c", "connect"],
  ),
  multipass: machines("delete|purge|stop|restart"),
  vboxmanage: simple([
    { path: "unregistervm", reason: MACHINE_STOPS },
    { path: "controlvm * poweroff|reset|acpipowerbutton", reason: MACHINE_STOPS },
    { path: "closemedium", reason: MACHINE_STOPS, when: (call) => has(call, "delete") },
    { path: "snapshot * delete|restore", reason: MACHINE_STOPS },
  ]),
  ...forPrograms(["qm", "pct"], machines("destroy|stop|shutdown|reset|reboot|rollback|delsnapshot")),
  buildah: simple([{ path: "rm|rmi|prune", reason: DELETES }]),
  ...forPrograms(
    ["skopeo", "crane", "regctl", "reg"],
    simple([
      { path: "delete|rm", reason: "deletes an image from a registry" },
      { path: "tag|image|manifest delete|rm", reason: "deletes an image from a registry" },
    ]),
  ),
  ...forPrograms(["colima", "limactl", "lima", "orb"], machines("delete|stop|reset")),
  "docker-machine": machines("rm|stop|kill|restart"),
  ...forPrograms(
    ["okteto", "skaffold", "tilt", "devspace", "werf"],
    simple([{ path: "destroy|delete|down|purge|dismiss", reason: DELETES }]),
  ),
};
