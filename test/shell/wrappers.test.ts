import { describe, expect, it } from "vitest";
import { found, run, runs } from "./unfolded.js";

/** Every line comes to `x -a b`, whatever stands around it. */
const LINES = `sudo x -a b
sudo -u root -E -- x -a b
sudo --user=root A=1 x -a b
sudo -nu root x -a b
doas -u root x -a b
pkexec --user root x -a b
su -c 'x -a b'
su - root -c 'x -a b'
su root -c 'x -a b'
runuser -u www -- x -a b
runuser -l www -c 'x -a b'
env x -a b
env -i PATH=/bin A=1 x -a b
env -u A -C /d x -a b
env -S 'x -a b'
env -S 'A=1 x -a' b
nohup x -a b
timeout 5 x -a b
timeout -k 5 --signal=KILL 10s x -a b
nice x -a b
nice -n 5 x -a b
nice -10 x -a b
ionice -c2 -n 7 x -a b
chrt -f 99 x -a b
taskset -c 0-3 x -a b
stdbuf -oL -eL x -a b
setsid -w x -a b
command time -f %e x -a b
strace -f -o log x -a b
ltrace -e malloc x -a b
gdb -q --args x -a b
script -qc 'x -a b' /dev/null
script -q /dev/null x -a b
watch -n1 'x -a b'
watch -n 1 -d x -a b
flock -n /lock x -a b
flock /lock -c 'x -a b'
unshare -rn x -a b
nsenter -t 1 -m x -a b
chroot /mnt x -a b
systemd-run --user --scope -p A=1 x -a b
exec x -a b
exec -a name x -a b
command x -a b
command -p x -a b
builtin command x -a b
busybox x -a b
toybox x -a b
sshpass -p pw x -a b
winpty x -a b
fakeroot x -a b
dbus-run-session -- x -a b
xvfb-run -a -s '-screen 0' x -a b
torsocks x -a b
proxychains4 -q x -a b
caffeinate -i x -a b
cpulimit -l 50 x -a b
chpst -u www x -a b
gosu www x -a b
su-exec www x -a b
tini -s -- x -a b
dumb-init x -a b
rlwrap x -a b
bwrap --ro-bind / / --dev /dev x -a b
start-stop-daemon --start --exec x -- -a b
find . -name c -exec x -a b ';'
find . -execdir x -a b ';'
fd -e c -x x -a b/{/} ';'
parallel x -a ::: b
ssh host x -a b
ssh -p 22 -o A=b -i key user@host 'x -a b'
ssh host -- x -a b
docker exec web x -a b
docker exec -it -u root -e A=1 web x -a b
docker -H tcp://h container exec web x -a b
docker run --rm -it -v /:/host --name n image x -a b
docker run --entrypoint x image -a b
podman run --network=none image x -a b
docker compose exec -T web x -a b
docker compose -f f.yaml run --rm web x -a b
docker-compose exec web x -a b
kubectl exec -n ns pod -c app -- x -a b
kubectl exec -it pod -- x -a b
kubectl run p --image=i -- x -a b
machinectl shell m x -a b
lxc exec c -- x -a b
vagrant ssh -c 'x -a b'
gcloud compute ssh vm --command='x -a b'
tmux new-session -d -s s 'x -a b'
tmux new -d x -a b
tmux send-keys -t 0 'x -a b' Enter
screen -dmS s x -a b
screen -S s -X stuff 'x -a b^M'
npx x@5 -a b
npx -y -p pkg x -a b
npx -c 'x -a b'
bunx x -a b
pnpm dlx x -a b
npm exec -- x -a b
uvx x -a b
pipx run x -a b
poetry run x -a b
pipenv run x -a b
uv run --with pkg x -a b
bundle exec x -a b
conda run -n env x -a b
direnv exec . x -a b
dotenv -f .env x -a b
op run --env-file=e -- x -a b
aws-vault exec prod -- x -a b
nix-shell -p pkg --run 'x -a b'
nix develop -c x -a b
git -c alias.e='!x -a b' e
git bisect run x -a b
git rebase -i --exec 'x -a b' main
git submodule foreach 'x -a b'
git filter-branch --tree-filter 'x -a b' HEAD
entr -r x -a b
nodemon --exec 'x -a b'
concurrently -n one 'x -a b'
hyperfine -w 3 'x -a b'
vim -c '!x -a b'
echo 'x -a b' | at now
sudo -s <<< 'x -a b'
cross-env A=1 x -a b
sg docker -c 'x -a b'
/lib64/ld-linux-x86-64.so.2 x -a b
make -f - <<< $'all:; x -a b'
ansible all -m shell -a 'x -a b'
salt '*' cmd.run 'x -a b'
man -P 'x -a b' ls
rsync -e 'x -a b' c d:
complete -C 'x -a b' git
mapfile -C 'x -a b' -c 1 < list
env -i - x -a b
env -S'x\\_-a\\_b'
sudo -D /srv x -a b
screen -dmS s sh -c 'x -a b'
screen -S s -X exec x -a b
setarch x86_64 -R x -a b
setarch -R x -a b
arch -x86_64 x -a b
capsh --drop=all -- -c 'x -a b'
ls | entr -s 'x -a b'
pdsh -w h 'x -a b'
xterm -e 'x -a b'
gnome-terminal -- x -a b
systemd-nspawn -D /srv/root x -a b
run0 x -a b
choom -n 10 -- x -a b
qemu-x86_64 x -a b
bash-5.2 -c 'x -a b'
osh -c 'x -a b'
nu -c 'x -a b'
tmux split-window -h x -a b
pnpm --filter web exec -- x -a b
yarn run x -a b
yarn workspace web exec x -a b
yarn workspaces foreach -A exec x -a b
cargo watch -s 'x -a b'
nix run nixpkgs#x -- -a b
just --command x -a b
lerna exec -- x -a b
podman unshare x -a b
adb shell x -a b
echo | xargs stdbuf -o0 -e0 x -a b
echo 'x -a b' | xargs -d'\\n' -n1 bash -c
gdb -ex 'shell x -a b'
sudo nice -n 5 env A=1 timeout 5 sh -c 'exec x -a b'`.split("\n");

describe("wrappers", () => {
  it.each(LINES)("are opened: %s", (line) => {
    const bare = runs(line).map((one) => one.replace(/^.*\bx -a b(?:\/<unknown>)?/, "x -a b"));
    expect(bare).toContain("x -a b");
    expect(found(line)).toEqual([]);
  });

  it("the carrier is listed too, so that it can be judged itself", () => {
    const { commands, carriers } = run("sudo -u root x");
    expect(commands.map((command) => command.program)).toEqual(["sudo", "x"]);
    expect([...carriers].map((command) => command.program)).toEqual(["sudo"]);
  });

  it("tell through what a command is reached", () => {
    const wrappers = (line: string) =>
      run(line)
        .commands.at(-1)
        ?.wrappers.map(({ program, kind }) => `${kind} ${program}`);
    expect(wrappers("timeout 5 x")).toEqual(["local timeout"]);
    expect(wrappers("sudo x")).toEqual(["root sudo"]);
    expect(wrappers("ssh prod sudo x")).toEqual(["remote ssh prod", "root sudo"]);
    expect(wrappers("docker exec web sh -c x")).toEqual(["container docker exec web", "local sh"]);
  });

  it("that keep the meaning leave no trace in the canonical form", () => {
    expect(runs("nice -n 5 env A=1 timeout 9 x 'a b' c")).toEqual(["x 'a b' c"]);
    expect(runs("ssh prod 'sudo x'")).toEqual(["ssh prod sudo x"]);
  });

  it("that lead to another root or service stay visible, those that change only rights keep the files", () => {
    expect(runs("chroot /mnt x a")).toEqual(["chroot x a"]);
    expect(runs("systemd-run x a")).toEqual(["systemd-run x a"]);
    expect(runs("unshare -r x a")).toEqual(["unshare x a"]);
    expect(runs("echo 'x a' > s; unshare -r sh s")).toContain("unshare x a");
  });

  it("a folder that is entered for one command counts for that command only", () => {
    const completedIn = (line: string): string[] =>
      [...run(line).variants.values()]
        .flat()
        .map(({ program, args }) => [program, ...args.map((word) => word.text)].join(" "));
    expect(completedIn("env -C / rm -rf *; rm x")).toEqual(["rm -rf /*"]);
    expect(completedIn("sudo -D /srv rm x")).toEqual(["rm /srv/x"]);
  });

  it("options behind the command belong to the command", () => {
    expect(runs("echo a | xargs x -e0 -i -l5")).toContain("x -e0 -i -l5 a");
  });

  it("pass on input and files", () => {
    const inner = run("echo a | sudo tee /etc/f > log").commands.at(-1);
    expect(inner).toMatchObject({
      program: "tee",
      input: { kind: "text" },
      redirects: [{ target: { text: "log" } }],
    });
    expect(run("ssh h cat f > g").commands.at(-1)?.redirects).toEqual([]);
  });

  it.each([
    "sudo -l",
    "env",
    "command -v x",
    "timeout --version",
    "xargs --help",
    "bash -n f.sh",
    "docker ps",
    "kubectl get pods",
    "yarn run build",
    "screen -ls",
    "arch",
    "cargo build -- x",
  ])("that run nothing: %s", (line) => {
    expect(run(line).commands).toHaveLength(1);
    expect(found(line)).toEqual([]);
  });

  it("fail closed on options they do not know, and still open what may be meant", () => {
    expect(found("timeout --strange 5 x")).toEqual(["opaque.wrapper"]);
    expect(runs("sudo --strange value x -a b")).toContain("sudo x -a b");
    expect(runs("sudo $OPTIONS x -a b")).toContain("sudo x -a b");
  });

  it("too many of them are too many", () => {
    expect(run(`${"nice ".repeat(12)}x`).budget.exceeded).toBe(false);
    expect(run(`${"nice ".repeat(13)}x`).budget.exceeded).toBe(true);
  });
});
