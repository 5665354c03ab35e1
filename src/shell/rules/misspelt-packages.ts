import { type Condition, names, subject } from "./row.js";

const MISSPELT = "fetches a package whose name is one slip away from that of a well-known one";

/** What people mean when a letter is missing, doubled or changes places with its neighbour. */
const NPM = names(
  "react react-dom react-scripts react-router react-router-dom express lodash axios webpack webpack-cli typescript eslint prettier " +
    "mongoose mongodb commander inquirer nodemon dotenv cross-env moment jquery angular bootstrap tailwindcss " +
    "postcss autoprefixer babel-loader ts-node vitest playwright puppeteer cypress chokidar discord.js electron " +
    "ethers web3 sequelize knex passport jsonwebtoken bcrypt winston socket.io node-fetch body-parser cookie-parser " +
    "create-react-app create-next-app create-vite concurrently rimraf supertest storybook turborepo serverless nodemailer",
);
const PYPI = names(
  "requests numpy pandas django flask fastapi uvicorn gunicorn scipy matplotlib seaborn scikit-learn tensorflow pytorch torch " +
    "transformers pillow pytest pyyaml sqlalchemy beautifulsoup4 selenium scrapy celery cryptography paramiko boto3 botocore " +
    "urllib3 setuptools virtualenv python-dateutil psycopg2 psycopg2-binary pydantic openai anthropic langchain jupyter " +
    "jupyterlab notebook streamlit tqdm colorama ansible poetry pipenv opencv-python pycryptodome aiohttp httpx redis",
);
/** Shorter names are too near to each other by nature. */
const SHORTEST = 5;

/** Every name that differs from this one by such a slip. */
function slips(name: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at < name.length; at++) {
    const [before, here, next, after] = [name.slice(0, at), name[at], name[at + 1] ?? "", name.slice(at + 2)];
    found.add(`${before}${next}${here}${after}`);
    found.add(`${before}${here}${here}${next}${after}`);
    // Singular and plural are often two packages, and so are names with and without a dash.
    if (at < name.length - 1 && here !== "-") found.add(`${before}${next}${after}`);
  }
  found.delete(name);
  return found;
}

const slipsOf = new Map<ReadonlySet<string>, ReadonlySet<string>>();

function isSlip(name: string, known: ReadonlySet<string>): boolean {
  let all = slipsOf.get(known);
  if (all === undefined) {
    all = new Set([...known].filter(({ length }) => length >= SHORTEST).flatMap((each) => [...slips(each)]));
    slipsOf.set(known, all);
  }
  return all.has(name) && !known.has(name) && !REAL.has(name);
}
/** Packages of their own that happen to be so near. */
const REAL = names("rect");

const misspelt =
  (known: ReadonlySet<string>): Condition =>
  ({ rest }) =>
    rest.find(({ text }) => isSlip(text.toLowerCase().replace(/(?<=.)(?:@|[=<>~![]).*$/s, ""), known));

/** `npx NAME`: only the package, not what it is told. */
const ranMisspelt: Condition = ({ operands }) => {
  const [first] = operands;
  return first !== undefined && isSlip(first.text.replace(/(?<=.)@.*$/s, ""), NPM) ? first : undefined;
};

/** Names by which somebody waits for people who mistype. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("foreign-code", [
  { rule: "package.misspelt", reason: MISSPELT, dry: "dry-run", tools: [
    { program: "npm|pnpm|yarn|bun", path: "install|i|add|in", when: misspelt(NPM), match: ["npm i loadsh", "yarn add expresss@4"], not_match: ["npm i lodash", "npm i express@4", "npm i preact", "npm install"] },
    { program: "npx|pnpx|bunx", taking: "p package c call", when: ranMisspelt, match: ["npx --yes raect-scripts start"], not_match: ["npx -y react-scripts start", "npx eslint ."] },
    { program: "pip|pip3|pipx|uv|poetry|pdm|rye", path: "pip? install|add|download", when: misspelt(PYPI), match: ["pip install reqeusts", "pip install 'reqests>=2'", "uv add nunpy numppy"], not_match: ["pip install requests", "pip install -r requirements.txt", "uv add 'pydantic[email]'"] },
  ] },
]);
