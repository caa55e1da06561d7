import { readFileSync } from "node:fs";
import path from "node:path";

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
