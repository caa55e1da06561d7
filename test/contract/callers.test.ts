import { globSync, readFileSync } from "node:fs";
import path from "node:path";

import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { httpMethodsOf } from "@scrip/contract";
import type { Callers } from "@scrip/rpc";
import { describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const SERVICES = ["voucher", "campaign", "loyalty", "validation", "export"];
const GATEWAY = "gateway";

/** A protobuf service that a part has a client of. */
type ClientOf = { readonly owner: string; readonly service: DescService };

const sourcesOf = (part: string): readonly string[] =>
  globSync(`${part === GATEWAY ? GATEWAY : `services/${part}`}/src/**/*.ts`, { cwd: ROOT })
    .filter((file) => !file.endsWith(".test.ts") && !file.endsWith("callers.ts"))
    .map((file) => readFileSync(path.join(ROOT, file), "utf8"));

async function clientsOf(sources: readonly string[]): Promise<readonly ClientOf[]> {
  const clients: ClientOf[] = [];
  for (const text of sources) {
    for (const { groups } of text.matchAll(/clientOf\(\s*(?<name>\w+Service)\b/g)) {
      const name = groups?.["name"] ?? "";
      const imported = new RegExp(
        `\\b${name}\\b[^;]*from "@scrip/proto/(?<file>scrip/(?<owner>\\w+)/v1/\\w+)"`,
      ).exec(text)?.groups;
      const module = (await import(
        path.join(ROOT, `proto/gen/${imported?.["file"] ?? ""}.ts`)
      )) as Readonly<Record<string, DescService>>;
      const service = module[name];
      if (service === undefined) throw new Error(`${name} is not generated`);
      clients.push({ owner: imported?.["owner"] ?? "", service });
    }
  }
  return clients;
}

/** The RPCs that the code of a part calls on its clients: those whose names it reads as a property. */
async function callsOf(part: string): Promise<readonly string[]> {
  const sources = sourcesOf(part);
  const text = sources.join("\n");
  const calls = (await clientsOf(sources)).flatMap(({ service }) =>
    service.methods.filter(({ localName }) => new RegExp(`\\.${localName}\\b`).test(text)),
  );
  const listed = calls.filter((method) => part !== GATEWAY || httpMethodsOf(method).length === 0);
  return [...new Set(listed.map(nameOf))].toSorted();
}

async function allowedTo(part: string): Promise<readonly string[]> {
  const lists = SERVICES.map(async (owner) => {
    const { CALLERS } = (await import(path.join(ROOT, `services/${owner}/src/callers.ts`))) as {
      readonly CALLERS: Callers;
    };
    return CALLERS[part] ?? [];
  });
  return (await Promise.all(lists)).flat().map(nameOf).toSorted();
}

const nameOf = ({ parent, name }: DescMethod): string => `${parent.typeName}/${name}`;

describe.each([GATEWAY, ...SERVICES])("%s", (part) => {
  test("may call the RPCs that it calls, and no others", async () => {
    expect(await callsOf(part)).toEqual(await allowedTo(part));
  });
});
