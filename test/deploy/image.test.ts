import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { CALLEES } from "../../oxlint.config.ts";
import { sourceFiles } from "../docs/repository.ts";
import { ROOT, startArgs } from "../stack/process.ts";

const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");

const sources = sourceFiles();
const paths = new Set(sources.map((file) => file.path));

test("the image has the packages that the workspace installs, with the same pnpm", () => {
  const versionsIn = (text: string): ReadonlySet<string> =>
    new Set([...text.matchAll(/pnpm@[\d.]+/g)].map(([version]) => version));
  expect(versionsIn(read("deploy/Dockerfile"))).toEqual(versionsIn(read("scripts/install.mjs")));
});

test("the image and services/README.md start Node with the arguments of npm start", () => {
  const [entrypoint = ""] = read("deploy/Dockerfile").match(/(?<=^ENTRYPOINT ).*$/m) ?? [];
  const [, ...used] = JSON.parse(entrypoint) as readonly string[];
  expect(used).toEqual(startArgs());
  expect(used).not.toEqual([]);
  expect(read("services/README.md")).toContain(`\`${used.join(" ")}\``);
});

test("the image keeps the licences of packages, and no documentation of them", async () => {
  const [command = ""] =
    read("deploy/Dockerfile").match(/(?<=^RUN )find (?:.|\\\n)*-delete$/m) ?? [];
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-image-"));
  try {
    const files = ["LICENSE.md", "license.md", "LICENCE-MIT.md", "NOTICE.md", "COPYING.md"];
    const deleted = ["README.md", "CHANGELOG.md", "index.d.ts", "index.js.map"];
    const modules = path.join(folder, "node_modules/each");
    await mkdir(modules, { recursive: true });
    await Promise.all(
      [...files, ...deleted, "index.js"].map((file) => writeFile(path.join(modules, file), "")),
    );
    await promisify(execFile)("sh", ["-c", command], { cwd: folder });
    expect((await readdir(modules)).toSorted()).toEqual([...files, "index.js"].toSorted());
  } finally {
    await rm(folder, { recursive: true });
  }
});

type Compose = {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image: string;
        readonly command?: readonly string[];
        readonly environment?: Readonly<Record<string, string>>;
        readonly read_only?: boolean;
        readonly cap_drop?: readonly string[];
        readonly user?: string;
      }
    >
  >;
};

const compose = parse(read("deploy/compose.yaml"), { merge: true }) as Compose;
const own = Object.entries(compose.services).filter(([, { image }]) => image.includes("scrip"));

test("Compose runs all processes from the image, without rights and with a read-only root", () => {
  expect(own.map(([name]) => name).toSorted()).toEqual(
    [...Object.keys(CALLEES), "migrations"].toSorted(),
  );
  for (const [, { command = [], read_only, cap_drop, user }] of own) {
    expect(paths).toContain(command[0]);
    expect({ read_only, cap_drop, user }).toEqual({
      read_only: true,
      cap_drop: ["ALL"],
      user: "10001:10001",
    });
  }
});

test("Compose sets variables that exist, and an address for each service that is called", () => {
  const code = sources
    .filter((file) => /^(gateway|services)\/.*\.ts$/.test(file.path))
    .map(({ text }) => text)
    .join("\n");
  const urls = Object.values(CALLEES)
    .flat()
    .map((name) => `SCRIP_${name.toUpperCase()}_URL`);
  for (const [name, { environment = {} }] of own) {
    const variables = Object.keys(environment).filter((each) => each.startsWith("SCRIP_"));
    expect(variables).toEqual(expect.arrayContaining(urls));
    const unknown = variables.filter((each) => !urls.includes(each) && !code.includes(each));
    expect([name, unknown]).toEqual([name, []]);
  }
});
