/**
 * The one table of places that are more than ordinary files: credentials, what other programs run later, the system,
 * and Hermes' own state. Policy, command-line rules, sandbox, file tools, cron and undo all read it, so that they
 * cannot disagree. To protect a new place, add its pattern to the row of its kind.
 *
 * A pattern begins with where it holds: `~/` any person's home, `/` the root, `$HERMES/` the home of Hermes and of
 * each profile, `**` + `/` any folder. It names a file, or a folder with everything in it; under `**` + `/` it names
 * a folder only when it ends with a slash, or else files of that name. `*`, `?` and `[._-]` stay within a segment,
 * `{a,b}` is either. Case is written as on the disk and ignored when comparing.
 *
 * Of all rows that match, the strictest word counts. A row that allows both is an exception to the rows below it; one
 * with `only` speaks alone.
 */
export type PlaceVerdict = "allow" | "ask" | "deny";

/** What kinds of places there are, in the words in which a person is told of them. */
export const PLACE_KINDS = {
  ordinary: "an ordinary file",
  "hermes-secrets": "Hermes' own credentials and state",
  hermes: "Hermes' own files",
  "project-hermes": "a project's Hermes settings and tools, which run later",
  credentials: "a credential store",
  "system-secrets": "a credential file of the system",
  memory: "the memory of a program",
  secrets: "a file of secrets",
  environment: "a file of secrets",
  git: "git hooks and settings run later, outside this check",
  "git-hooks": "git hooks and settings run later, outside this check",
  editor: "a file that other programs run later",
  build: "a file that other programs run later",
  notes: "notes that agents begin every later conversation with",
  startup: "a start-up file or setting of other programs",
  "control-socket": "a socket through which other programs are told what to run",
  history: "what was typed into other programs",
  system: "a system folder",
} as const;

export type PlaceKind = keyof typeof PLACE_KINDS;

export interface PlaceRow {
  /** Patterns with white space between them; a space inside of a name is written `?`. */
  readonly patterns: string;
  readonly what: PlaceKind;
  readonly read: PlaceVerdict;
  readonly write: PlaceVerdict;
  /** No other row counts where this one does. */
  readonly only?: boolean;
}

export const PLACE_TABLE: readonly PlaceRow[] = [
  // Hermes itself: who may read its keys can answer its questions, who may write its files can change its rules.
  {
    patterns: `
      $HERMES/.env $HERMES/.anthropic_oauth.json $HERMES/server.token $HERMES/approvals.key
      $HERMES/{state,sessions,sessions-index}.db{,-wal,-shm} $HERMES/mcp-tokens $HERMES/pairing $HERMES/auth.json
      $HERMES/credentials $HERMES/undo`,
    what: "hermes-secrets",
    read: "deny",
    write: "deny",
  },
  { patterns: "$HERMES/sessions", what: "hermes-secrets", read: "ask", write: "deny" },
  { patterns: "$HERMES", what: "hermes", read: "allow", write: "ask" },
  {
    patterns: "**/{server.token,approvals.key,.anthropic_oauth.json}",
    what: "hermes-secrets",
    read: "ask",
    write: "ask",
  },
  { patterns: "**/.hermes/", what: "project-hermes", read: "allow", write: "ask" },
  { patterns: "**/{,.}hermes{_,-}permissions.{yml,yaml}", what: "hermes", read: "allow", write: "ask" },

  // Credentials in a home.
  { patterns: "~/.ssh/config", what: "credentials", read: "allow", write: "ask", only: true },
  {
    patterns: "~/.ssh/{*.pub,known_hosts*,authorized_keys*}",
    what: "credentials",
    read: "allow",
    write: "deny",
    only: true,
  },
  {
    patterns: `
      ~/.ssh ~/.aws ~/.gnupg ~/.kube ~/.docker ~/.azure ~/.config/gh ~/.config/gcloud
      ~/.netrc ~/.pgpass ~/.npmrc ~/.pypirc ~/.git-credentials`,
    what: "credentials",
    read: "ask",
    write: "deny",
  },
  {
    patterns: `
      ~/.oci ~/.ibmcloud ~/.aliyun ~/.config/{hub,glab-cli,op,rclone,doctl,heroku,sops,github-copilot,containers}
      ~/.config/git/credentials ~/_netrc ~/.my.cnf ~/.mylogin.cnf ~/.yarnrc ~/.yarnrc.yml ~/.vault-token ~/.dockercfg
      ~/.htpasswd ~/.terraformrc ~/.terraform.d ~/.s3cfg ~/.boto ~/.databrickscfg ~/.snowflake ~/.snowsql/config
      ~/.fly ~/.password-store ~/.cargo/credentials{,.toml} ~/.gem/credentials ~/.bundle/config
      ~/.composer/auth.json ~/.config/composer/auth.json ~/.m2/settings{,-security}.xml ~/.gradle/gradle.properties
      ~/.nuget/NuGet.Config ~/.nuget/NuGet/NuGet.Config ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.subversion/auth
      ~/.huggingface/token ~/.cache/huggingface/token ~/.kaggle ~/.openai ~/.anthropic ~/.claude/.credentials.json
      ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json ~/.local/share/keyrings
      ~/.local/share/containers/auth.json ~/.config/kwalletd ~/.local/share/kwalletd ~/.mozilla ~/.thunderbird
      ~/.config/{google-chrome,chromium,BraveSoftware,microsoft-edge,vivaldi,opera,discord,Slack,Signal,Element,restic,filezilla,remmina}
      ~/.{msmtp,fetchmail,mbsync,offlineimap}rc ~/.purple ~/.smbcredentials ~/.davfs2
      ~/.electrum ~/.bitcoin ~/.ethereum ~/.wallet
      ~/Library/Keychains ~/Library/Application?Support/{Google/Chrome,Firefox}`,
    what: "credentials",
    read: "ask",
    write: "ask",
  },
  { patterns: "**/.ssh/ **/.aws/ **/.gnupg/", what: "credentials", read: "ask", write: "ask" },

  // Credentials of the machine, and of programs that run.
  {
    patterns: "/etc/{shadow,shadow-,gshadow,gshadow-,sudoers,sudoers.d,master.passwd}",
    what: "system-secrets",
    read: "ask",
    write: "deny",
  },
  {
    patterns: `
      /etc/{krb5.keytab,security/opasswd,ssl/private,NetworkManager/system-connections,wireguard}
      /etc/ssh/ssh_host_{rsa,dsa,ecdsa,ed25519}_key /run/secrets /var/lib/docker /var/lib/containerd /var/spool/cron`,
    what: "system-secrets",
    read: "ask",
    write: "ask",
  },
  {
    patterns: "/proc/*/{environ,mem} /proc/*/task/*/{environ,mem}",
    what: "memory",
    read: "deny",
    write: "ask",
  },
  { patterns: "/etc/passwd /etc/systemd", what: "system", read: "allow", write: "deny" },

  // Who may talk to one of these has somebody outside of any sandbox run what he likes.
  {
    patterns: `
      /{run,var/run}/{docker.sock,docker,containerd,crio,podman,buildkit,incus,libvirt,snapd.socket,screen}
      /{run,var/run}/dbus/system_bus_socket /run/systemd/private /var/lib/{lxd,incus}/unix.socket
      /var/snap/lxd/common/lxd/unix.socket /run/user/*/{bus,systemd,docker.sock,docker,podman,containerd,buildkit}
      /run/user/*/{libvirt,keyring/control,zellij,emacs,hypr,sway-ipc*,i3,nvim.*,kitty*}
      /tmp/{tmux-*,screens,uscreens,emacs[0-9]*,zellij-*,nvim.*,kitty-*} ~/.colima ~/.rd ~/.lima
      ~/.screen ~/.local/share/containers/podman`,
    what: "control-socket",
    read: "ask",
    write: "ask",
  },

  // The operating system.
  {
    patterns: `
      /dev/{null,zero,full,random,urandom,stdin,stdout,stderr,fd,pts,shm,ptmx,console,snd,dsp,kmsg,mqueue,tcp,udp}
      /dev/{tty,pts,cu.,ptmx}* /proc/*/fd`,
    what: "ordinary",
    read: "allow",
    write: "allow",
  },
  {
    patterns: `
      /etc /boot /usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /sys /proc /dev /efi /System /Library
      /var/{lib,spool,db,backups} /private/etc /private/var/db /run/{secrets,systemd,udev}`,
    what: "system",
    read: "allow",
    write: "ask",
  },

  // What other programs run later without asking again.
  {
    patterns: "**/.git **/.git/{hooks,modules}/ **/.git/{config,info/attributes}",
    what: "git",
    read: "allow",
    write: "ask",
  },
  {
    patterns: "**/*.git/**/hooks/ **/*.git/**/{config,config.worktree,gitdir,commondir,attributes}",
    what: "git",
    read: "allow",
    write: "ask",
  },
  { patterns: "**/.husky/ **/.githooks/", what: "git-hooks", read: "allow", write: "ask" },
  {
    patterns: `
      **/.envrc **/.mcp.json **/.vscode/{tasks,settings,launch,extensions,mcp}.json **/.cursor/{mcp.json,settings.json}
      **/.cursor/{hooks,rules}*/ **/.claude/settings{,.local}.json **/.claude/hooks*/ **/.codex/
      **/.gemini/settings.json **/.idea/workspace.xml **/.idea/runConfigurations*/`,
    what: "editor",
    read: "allow",
    write: "ask",
  },
  {
    patterns: `
      **/{AGENTS,CLAUDE,GEMINI,QWEN}{,.local}.md **/.{cursor,windsurf,cline,roo,goose}{rules,hints} **/copilot-instructions.md
      **/.claude/{commands,agents,skills,plugins}*/ **/.aider.conf.yml **/.junie/guidelines.md`,
    what: "notes",
    read: "allow",
    write: "ask",
  },
  {
    patterns: `
      **/{.gitlab-ci,azure-pipelines,bitbucket-pipelines,.woodpecker,cloudbuild}.{yml,yaml} **/Jenkinsfile
      **/{.travis,.drone,appveyor}.yml **/.github/{workflows,actions}/ **/.{circleci,buildkite,woodpecker,gitea,forgejo}/
      **/.devcontainer.json **/.devcontainer/**/devcontainer.json`,
    what: "build",
    read: "allow",
    write: "ask",
  },
  {
    patterns: `
      ~/.bashrc ~/.bash_{profile,login,logout,aliases,completion,env} ~/.profile ~/.zshrc ~/.z{profile,shenv,login,logout}
      ~/.zsh ~/.oh-my-zsh ~/.{ksh,mksh,csh,tcsh,sh}rc ~/.login ~/.logout ~/.inputrc ~/.xinitrc ~/.xprofile
      ~/.xsession{,rc} ~/.xserverrc ~/.pam_environment ~/.{bashrc,profile,zshrc}.d ~/.crontab
      ~/.config/{fish,zsh,bash,nushell,environment.d,systemd,autostart,autostart-scripts,plasma-workspace,upstart,cron}
      ~/.local/share/{systemd,applications,dbus-1} ~/.kde/autostart ~/.termux/boot ~/Library/Launch{Agents,Daemons}
      ~/.gitconfig ~/.config/git ~/.hgrc ~/.vimrc ~/.gvimrc ~/.exrc ~/.vim ~/.config/nvim ~/.emacs ~/.emacs.d
      ~/.config/emacs ~/.nanorc ~/.tmux.conf ~/.config/tmux ~/.screenrc ~/.gdbinit ~/.config/gdb ~/.lldbinit ~/.irbrc
      ~/.pryrc ~/.pythonrc{,.py} ~/.pythonstartup ~/.Rprofile ~/.sqliterc ~/.psqlrc ~/.curlrc ~/.wgetrc ~/.config/pip
      ~/.pip ~/.cargo/config{,.toml} ~/.gradle/init.{gradle,d} ~/.mailcap ~/.forward ~/.procmailrc ~/.rhosts ~/.shosts
      ~/.direnvrc ~/.config/direnv ~/.vscode/extensions ~/.vscode-server ~/.config/Code/User ~/.claude/settings.json
      ~/.claude/hooks ~/.codex/config.toml ~/.cursor/mcp.json ~/.gemini/settings.json`,
    what: "startup",
    read: "allow",
    write: "ask",
  },
  // Settings of credential stores that start programs or let somebody in.
  {
    patterns: `
      ~/.ssh/{authorized_keys,authorized_keys2,config,rc,environment} ~/.aws/config ~/.docker/config.json ~/.kube/config
      ~/.gnupg/{gpg,gpg-agent,dirmngr,scdaemon}.conf`,
    what: "startup",
    read: "allow",
    write: "ask",
  },
  {
    patterns: `
      **/Launch{Agents,Daemons}/ **/authorized_keys{,2} **/crontab **/{site,user}customize.py
      **/{site,dist}-packages/*.pth`,
    what: "startup",
    read: "allow",
    write: "ask",
  },
  {
    patterns: `
      **/.{bash,zsh,sh,ksh,python,psql,mysql,node_repl,rediscli,sqlite}_history **/.zhistory **/.history **/.histfile
      **/fish_history **/.{bash,zsh}_sessions/`,
    what: "history",
    read: "allow",
    write: "ask",
  },

  // Names that hold secrets wherever they are. Examples, public keys and certificates are meant to be shown.
  {
    patterns: `
      **/{,*[._-]}{example,examples,sample,template,dist,tmpl,tpl,default,defaults,schema,enc,age,gpg,pub,md}
      **/{,*[._-]}{cert,chain,fullchain,ca,root-ca,rootca,public,pub}*.{pem,key} **/known_hosts*`,
    what: "ordinary",
    read: "allow",
    write: "allow",
  },
  {
    patterns: "**/.env **/.envrc **/.env.{local,development,production,test,staging}",
    what: "environment",
    read: "deny",
    write: "ask",
  },
  { patterns: "**/.env.* **/.envrc.*", what: "environment", read: "ask", write: "ask" },
  {
    patterns: `
      **/{.netrc,_netrc,.pgpass,.git-credentials,.htpasswd,.vault-token,.vault_pass,identity.key,credentials.tfrc.json}
      **/id_{rsa,dsa,ecdsa,ed25519}{,_sk}`,
    what: "secrets",
    read: "ask",
    write: "ask",
  },
  {
    patterns: `
      **/*_{rsa,ed25519,ecdsa} **/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,ovpn} **/credentials{,.json,.csv,.ini,.yml,.yaml}
      **/{,client_}secret{,s}.{json,yml,yaml,toml,env,txt} **/service{,-,_}account*.json **/*-sa{,-key}.json
      **/application_default_credentials.json **/{.npmrc,.pypirc,.my.cnf,kubeconfig,wallet.dat,key3.db,key4.db}
      **/{login?data,cookies,cookies.sqlite,logins.json,*.token,*.tfstate,*.tfvars,token,token.json,tokens.json}
      **/{auth.json,password.txt,passwords.txt,password.csv,passwords.csv,.secret,.secrets}`,
    what: "secrets",
    read: "ask",
    write: "allow",
  },
];
