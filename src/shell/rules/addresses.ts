/** Names and numbers of this machine itself, with or without a port. */
const OWN =
  /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[?::1\]?|::|host\.docker\.internal|[\w-]+\.(?:localhost|test))$/i;
const HOST =
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/@\s]*@)?(\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d+)?(?:[/?#:,].*)?$/is;
const ADDRESS = /^(?:\d{1,3}\.){3}\d{1,3}$|^\[[\da-f:]+\]$/i;
const DOTTED = /^(?:[\w-]+\.)+[a-z][a-z\d-]+$/i;

/** The host an address, `me@host` or `host:port` names; undefined when it is none. */
export function hostOf(text: string): string | undefined {
  const host = HOST.exec(text)?.[1];
  if (host === undefined) return undefined;
  return /:\/\//.test(text) || ADDRESS.test(host) || DOTTED.test(host) ? host : undefined;
}

/** Whether a word is the address of another machine: a number, a name with a dot in it, or a URL that is not of this machine. */
export function isElsewhere(text: string): boolean {
  const host = hostOf(text);
  return (
    host !== undefined &&
    !OWN.test(host) &&
    !/\.(?:txt|json|jsonl|[cm]?[jt]sx?|py|sh|md|ya?ml|toml|lua|jmx|scala|sql|csv|tsv|conf|cfg|ini|html?|out|log|bin|hex|har|xml|t?gz|zip|tar|proto|rb|go|rs|java|kt|php|pl|png|jpe?g|pdf|wav|mp[34]|dat|data|lock|key|pem|crt|sock|local)$/i.test(
      host,
    )
  );
}

export function isOwnHost(host: string): boolean {
  return OWN.test(host);
}

/** Where most of the world keeps its source; what lies there was put there under a name. */
export const KNOWN_FORGES =
  /^(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|golang\.org|go\.dev|google\.golang\.org|gopkg\.in|k8s\.io|sigs\.k8s\.io|raw\.githubusercontent\.com|gotest\.tools|honnef\.co|mvdan\.cc|go\.uber\.org|cloud\.google\.com|cuelang\.org|rsc\.io|modernc\.org|filippo\.io|helm\.sh|kernel\.org)$/i;
const FULL_ADDRESS = /^(?:git\+|hg\+|svn\+|bzr\+)?(?:https?|ssh|git|ftp):\/\/(?:[^/@]*@)?([^/:]+)/i;

export function addressHost(text: string): string | undefined {
  return FULL_ADDRESS.exec(text)?.[1];
}

export const isForeign = (text: string): boolean => {
  const host = addressHost(text);
  return host !== undefined && !KNOWN_FORGES.test(host) && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host);
};

/** The same for addresses of git, which may be written `me@host:path`. */
export const isForeignRepository = (text: string): boolean =>
  isForeign(/^[\w.-]+@[\w.-]+:(?!\/\/)/.test(text) ? `ssh://${text.replace(":", "/")}` : text);

/** Where everybody's packages lie, and names that houses give to their own servers for them. */
const PACKAGE_HOST =
  /(?:^|\.)(?:pypi\.org|pythonhosted\.org|pytorch\.org|nvidia\.com|npmjs\.org|npmjs\.com|yarnpkg\.com|rubygems\.org|crates\.io|golang\.org|nuget\.org|maven\.org|apache\.org|gradle\.org|anaconda\.org|anaconda\.com|packagist\.org|hex\.pm|github\.com|gitlab\.com|githubusercontent\.com|jfrog\.io|cloudsmith\.io|gemfury\.com|pkg\.dev|amazonaws\.com|azure\.com|visualstudio\.com|googleapis\.com|google\.com|microsoft\.com|aliyun\.com|aliyuncs\.com|huaweicloud\.com|tencent\.com|npmmirror\.com|edu\.cn|goproxy\.(?:io|cn)|rust-lang\.org|nodejs\.org|python\.org|rsproxy\.cn|r-project\.org|rstudio\.com|posit\.co|julialang\.org|jsr\.io|flutter-io\.cn|fury\.io|astral\.sh|debian\.org|ubuntu\.com)$|(?:^|[.-])(?:pypi|npm|registry|nexus|artifactory|artifacts?|mirrors?|proxy|goproxy|packages?|pkgs?|repo|repos|repository|verdaccio|devpi|internal|intra|intranet|corp|lan|local|wheels?|gems?|crates|maven|conda|simple-index)(?:[.-]|$)/i;

/** An address of packages on a server whose name tells nothing of that. */
export function isStrangePackageServer(text: string): boolean {
  const host = addressHost(text);
  return (
    host !== undefined &&
    /\./.test(host) &&
    isForeign(text) &&
    isElsewhere(text) &&
    !PACKAGE_HOST.test(host) &&
    !/^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./.test(host)
  );
}
