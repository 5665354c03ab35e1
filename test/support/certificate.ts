import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./runtime.js";

/** A key and a certificate that nobody has signed, for addresses and localhost; needs openssl. */
export function selfSigned(addresses: readonly string[] = ["127.0.0.1"]): {
  readonly key: string;
  readonly cert: string;
} {
  const folder = tempDir();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext";
  execFileSync(
    "openssl",
    [
      ...words.split(" "),
      `subjectAltName=${addresses.map((address) => `IP:${address}`).join()},DNS:localhost`,
      "-keyout",
      key,
      "-out",
      cert,
    ],
    { stdio: "ignore" },
  );
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}
