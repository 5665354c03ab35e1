// The bill of materials of the package (CycloneDX): what npm installs with it, and what the build has put into it.
//   node scripts/sbom.mjs > sbom.json     after npm run build
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure.mjs";
import { builtIn } from "./third-party.mjs";

const words = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
const text = execFileSync("npm", words, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
const bill = JSON.parse(text);
// npm takes the name of the folder that the clone lies in.
bill.metadata.component.name = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name;
const inside = await builtIn();
const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === "cdx:npm:package:development" && value === "true");
bill.components = bill.components.filter(
  (component) => !isDevelopment(component) || inside.has(`${component.name}@${component.version}`),
);
const kept = new Set([bill.metadata.component, ...bill.components].map((component) => component["bom-ref"]));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
console.log(JSON.stringify(bill, null, 2));
