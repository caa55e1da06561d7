import { bindingsOf } from "@scrip/contract";
import { describe, expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { sourceFiles } from "../docs/repository.ts";

const files = sourceFiles();

const publicRpcs = [...new Set(bindingsOf(publicServices).map(({ method }) => method))];

/** Folders of the gateway and of all services. */
const folders = [
  ...new Set(
    files.flatMap(
      ({ path }) => /^(?:gateway|services\/[^/]+)(?=\/src\/main\.ts$)/.exec(path) ?? [],
    ),
  ),
].toSorted();

const textOf = (wanted: string): string => files.find(({ path }) => path === wanted)?.text ?? "";

const folderOf = (typeName: string): string => {
  const owner = typeName.split(".")[1] ?? "";
  return owner === "gateway" ? "gateway" : `services/${owner}`;
};

const camelCase = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

test("the gateway and five services are checked", () => {
  expect(folders).toEqual([
    "gateway",
    "services/campaign",
    "services/export",
    "services/loyalty",
    "services/validation",
    "services/voucher",
  ]);
});

describe("the tests of each public RPC", () => {
  const testsOf = new Map(
    folders.map((folder) => [
      folder,
      files
        .filter(({ path }) => path.startsWith(`${folder}/test/`) && path.endsWith(".test.ts"))
        .map(({ text }) => text)
        .join("\n"),
    ]),
  );

  test.each(publicRpcs)("%s is named or called by a test of the service that owns it", (method) => {
    const tests = testsOf.get(folderOf(method.parent.typeName)) ?? "";
    const mention = new RegExp(`\\b${method.name}\\b|\\.${camelCase(method.name)}\\(`);
    expect(mention.test(tests)).toBe(true);
  });
});

describe("every service", () => {
  const HEADINGS = ["Owns", "Calls", "Events", "Folders", "Invariants", "Tests"];

  test.each(folders)("%s has a README with the same headings", (folder) => {
    const headings = [...textOf(`${folder}/README.md`).matchAll(/^## (.+)$/gm)].map(
      ([, heading]) => heading,
    );
    // Only the gateway has settings of its own; those of services are shared.
    expect(headings.filter((heading) => heading !== "Configuration")).toEqual(HEADINGS);
  });

  test.each(folders)("%s has its test data and set-up in test/, not in src/", (folder) => {
    const paths = files.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`));
    expect(paths).toEqual(
      expect.arrayContaining([`${folder}/test/builders.ts`, `${folder}/test/deps.ts`]),
    );
    const misplaced = paths
      .filter((path) => path.startsWith(`${folder}/src/`))
      .filter((path) => /(?:builders?|fixtures?|fakes?|stubs?|mocks?)(?:-[\w-]+)?\.ts$/.test(path));
    expect(misplaced).toEqual([]);
  });

  test.each(folders)("%s has no code in src/ that only tests import", (folder) => {
    const sources = files.filter(
      ({ path }) => path.startsWith(`${folder}/src/`) && path.endsWith(".ts"),
    );
    const isTest = (path: string): boolean => /\.test(?:-cases)?\.ts$/.test(path);
    const imported = new Set(
      sources
        .filter(({ path }) => !isTest(path))
        .flatMap(({ text }) => [...text.matchAll(/(?:from |import\()"\.[^"]*?([\w-]+\.ts)"/g)])
        .map(([, name]) => name),
    );
    const exported = new Set(textOf(`${folder}/package.json`).match(/[\w-]+\.ts/g));
    const unused = sources
      .map(({ path }) => path)
      .filter((path) => !isTest(path) && !path.endsWith("/main.ts"))
      .filter((path) => {
        const name = path.split("/").at(-1) ?? "";
        return !imported.has(name) && !exported.has(name);
      });
    expect(unused).toEqual([]);
  });

  test.each(folders)("%s numbers its migrations from 1 without gaps", (folder) => {
    const numbers = files
      .map(({ path }) => path)
      .filter((path) => path.startsWith(`${folder}/migrations/`))
      .map((path) => Number(/\/(\d{4})_[\w-]+\.sql$/.exec(path)?.[1]))
      .toSorted((a, b) => a - b);
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe("handlers/", () => {
  const rpcNames = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const owner = /^proto\/scrip\/(\w+)\/v1\/\w+\.proto$/.exec(path)?.[1];
    if (owner === undefined) continue;
    const folder = folderOf(`scrip.${owner}`);
    const names = rpcNames.get(folder) ?? new Set();
    for (const [, name = ""] of text.matchAll(/^ {2}rpc (\w+)\(/gm)) names.add(name);
    rpcNames.set(folder, names);
  }

  test.each(folders)(
    "%s has one handler for each RPC, internal ones too, and nothing else",
    (folder) => {
      const kebab = (name: string): string =>
        name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
      const handlers = files
        .map(({ path }) => path)
        .filter((path) => path.startsWith(`${folder}/src/handlers/`) && !path.endsWith(".test.ts"))
        .map((path) => path.slice(`${folder}/src/handlers/`.length, -".ts".length));
      const expected = [...(rpcNames.get(folder) ?? [])].map(kebab);
      expect(handlers.toSorted()).toEqual(expected.toSorted());
    },
  );
});
