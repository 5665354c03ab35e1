// About 100,000 paths as a large checkout has them: what is installed here, and made-up projects around it.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { randomNumbers } from "./random.mjs";

const SIZE = 100_000;
const MOST_INSTALLED = 30_000;

const WORDS =
  `account action adapter address admin agent alert alias amount analytics anchor api archive argument array asset
  attribute audio audit auth avatar backend badge balance banner batch billing binary block bookmark border branch
  bridge browser bucket buffer build bundle button cache calendar call camera cancel card cart catalog category
  channel chart check child circle claim class clean client clock cloud cluster code collect color column command
  comment commit compare compile component compose config connect console constant consumer contact container
  content context contract control convert cookie coordinate copy core count country coupon create credit crypto
  currency current cursor custom customer cycle daemon dashboard data database date debug decode default delete
  delivery deploy detail device dialog diff digest directory discount dispatch display document domain download
  draft driver duration edge edit element email embed emitter encode engine entity entry error event exchange
  export expression factory feature feed fetch field file filter finder fixture flag flow folder font form format
  frame front function gallery gateway generate geometry global graph grid group guard handler hash header health
  helper hidden history hook host html icon image import index info inline input inspect instance integration
  interface invoice issue item iterator job journal json key keyboard label lambda language launch layer layout
  lexer library license limit line link list listener loader local lock logger login loop machine mail manager map
  market mask match matrix media member memory menu merge message meta method metric middleware migration mobile
  modal mode model module monitor mount mutation name native navigation network node notice notification number
  object observer offset option order origin output owner package packet page pagination panel parent parser part
  password patch path payload payment permission phone picker pipeline pixel plan platform player plugin point
  policy pool popup port position post preview price print priority process product profile progress project
  prompt property provider proxy public publish query queue random range rate reader receipt record redirect
  reducer reference refund region register release remote render replay report request reset resolve resource
  response result retry review role route router rule runner runtime sample scanner schedule schema scope screen
  script scroll search section secret security segment select sender sensor serialize series server service session
  setting setup shape share shell shipping sidebar signal signature single size slider slot socket sort source space
  spec spinner stack stage standard state static status step stock storage store stream string style submit summary
  support switch symbol sync syntax system table tag target task team template tenant terminal test text theme
  thread ticket time timer title toast toggle token tool tooltip topic trace track transaction transform transition
  translate transport tree trigger tunnel type unit update upload usage user util valid value variable vendor
  version video view virtual visit voucher wallet watch webhook widget window worker wrapper writer zone`.split(
    /\s+/,
  );

const EXTENSIONS = [
  "ts",
  "ts",
  "ts",
  "tsx",
  "js",
  "py",
  "go",
  "rs",
  "java",
  "css",
  "md",
  "json",
  "yaml",
  "sql",
];
const TOP = ["apps", "packages", "services", "libs", "crates", "cmd", "modules", "plugins"];
const SHAPES = [
  "src",
  "src/components",
  "src/lib",
  "lib",
  "internal",
  "src/main/java/com/acme",
  "tests",
  "app",
];
const COMMON = ["index.ts", "package.json", "README.md", "mod.rs", "__init__.py", "main.go", "types.ts"];

const STYLES = {
  kebab: (words) => words.join("-"),
  snake: (words) => words.join("_"),
  camel: ([first, ...rest]) => first + rest.map(capital).join(""),
  pascal: (words) => words.map(capital).join(""),
};

function capital(word) {
  return word[0].toUpperCase() + word.slice(1);
}

/** The same paths in every run on the same installed packages. */
export function makeCorpus(root) {
  const paths = new Set(installed(root));
  const random = randomNumbers(2026);
  const some = (least, most) =>
    Array.from({ length: least + random.below(most - least + 1) }, () => random.pick(WORDS));
  while (paths.size < SIZE) {
    const style = STYLES[random.pick(Object.keys(STYLES))];
    const project = `${random.pick(TOP)}/${some(1, 2).join("-")}`;
    const extensions = [random.pick(EXTENSIONS), random.pick(EXTENSIONS)];
    for (let folders = 4 + random.below(20); folders > 0; folders -= 1) {
      const inner = Array.from({ length: random.below(3) }, () => STYLES.kebab(some(1, 2)));
      const folder = [project, random.pick(SHAPES), ...inner].join("/");
      if (random.next() < 0.5) paths.add(`${folder}/${random.pick(COMMON)}`);
      for (let files = 2 + random.below(14); files > 0; files -= 1) {
        const extension = random.pick(extensions);
        const stem = style(some(1, 4));
        paths.add(`${folder}/${stem}${random.next() < 0.12 ? ".test" : ""}.${extension}`);
      }
    }
  }
  return [...paths].slice(0, SIZE);
}

function installed(root) {
  const entries = readdirSync(join(root, "node_modules"), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/node_modules.\./.test(entry.parentPath ?? entry.path))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort()
    .filter((_path, index, all) => index % Math.ceil(all.length / MOST_INSTALLED) === 0);
}
