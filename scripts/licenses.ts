// Lists the licences of all installed packages, and fails on one that is not permitted or on a known vulnerability:
// npm run licenses
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

type Manifest = {
  readonly version: string;
  readonly license?: string;
  readonly licenses?: readonly { readonly type: string }[];
};

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Licences that ask for no more than their text and notices. MPL-2.0 concerns changed files of the package only. */
const PERMITTED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MPL-2.0",
  "Python-2.0",
  "Unlicense",
]);

/** The installed packages by name and version, with their licences as SPDX expressions. */
export function installedPackages(
  folder = path.join(root, "node_modules/.pnpm"),
): readonly { readonly id: string; readonly license: string }[] {
  const found = new Map<string, string>();
  for (const entry of readdirSync(folder)) {
    const [, scope = "", name = ""] = /^(?:(@[^+]+)\+)?([^@]+)@/.exec(entry) ?? [];
    const file = path.join(folder, entry, "node_modules", scope, name, "package.json");
    if (name === "" || !existsSync(file)) continue;
    const { version, license, licenses } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    const expression = license ?? licenses?.map(({ type }) => type).join(" AND ") ?? "none";
    found.set(`${path.posix.join(scope, name)}@${version}`, expression);
  }
  return [...found]
    .map(([id, license]) => ({ id, license }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** All parts of an `AND` are permitted, or one part of an `OR`. */
export function isPermitted(expression: string): boolean {
  const parts = expression.replaceAll(/[()]/g, "");
  return parts.split(" OR ").some(areAllPermitted);
}

const areAllPermitted = (text: string): boolean =>
  text.split(" AND ").every((each) => PERMITTED.has(each.trim()));

/** What the registry knows; undefined where it does not offer that. */
function knownVulnerabilities(): string | undefined {
  try {
    return execFileSync("npx", ["-y", "pnpm@12.21.0", "audit", "--prod"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    if (/ERR_PNPM_AUDIT/.test(stdout + stderr)) return undefined;
    throw new Error(stdout + stderr, { cause: error });
  }
}

if (import.meta.main) {
  const packages = installedPackages();
  const byLicense = Map.groupBy(packages, ({ license }) => license);
  for (const [license, of] of [...byLicense].toSorted(([, a], [, b]) => b.length - a.length)) {
    console.log(`${license} (${of.length})\n  ${of.map(({ id }) => id).join(", ")}`);
  }
  const rejected = packages.filter(({ license }) => !isPermitted(license));
  for (const { id, license } of rejected) console.error(`not permitted: ${id} (${license})`);
  console.log(
    knownVulnerabilities() ??
      "The registry does not offer an audit: vulnerabilities were not looked up.",
  );
  if (rejected.length > 0) process.exitCode = 1;
}
