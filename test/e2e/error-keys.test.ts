import { type Binding, bindingsOf, errorKeysOf, rejectionKeysOf } from "@scrip/contract";
import { catalogue, type ErrorKey } from "@scrip/errors";
import { afterAll, describe, expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { startStack } from "../stack/stack.ts";
import { decisionCases } from "./error-keys/decision-cases.ts";
import { type ErrorCase, pairOf } from "./error-keys/error-case.ts";
import { BULK_CALLS_PER_HOUR, GENERAL_CASES } from "./error-keys/general-cases.ts";
import { metadataCase } from "./error-keys/metadata-cases.ts";
import { notFoundCase } from "./error-keys/not-found-cases.ts";
import type { ProjectName } from "./error-keys/project-name.ts";
import { RESOURCE_CASES } from "./error-keys/resource-cases.ts";
import { errorKeysIn, send } from "./error-keys/send.ts";
import { createShop, type Shop } from "./error-keys/shop.ts";
import { UNPROVOKED_KEYS, UNREACHABLE_OVER_HTTP } from "./error-keys/unreachable.ts";

const nameOf = ({ method }: Binding): string => `${method.parent.name}.${method.name}`;
const bindings = Map.groupBy(bindingsOf(publicServices), nameOf);

/** What the contract declares: each RPC with its keys. */
const declared = [...bindings].map(([rpc, [binding]]) => {
  if (binding === undefined) throw new Error(`${rpc} has no HTTP binding`);
  const { method } = binding;
  return { rpc, binding, errors: errorKeysOf(method), rejections: rejectionKeysOf(method) };
});

const declaredPairs = declared.flatMap(({ rpc, errors, rejections }) => [
  ...errors.map((key) => pairOf({ rpc, key })),
  ...rejections.map((key) => pairOf({ rpc, key, place: "rejection" })),
]);

/** The first case of each pair: rows of the table replace generic cases. */
const cases = new Map<string, ErrorCase>();
for (const each of [
  ...RESOURCE_CASES,
  ...declared.flatMap(({ rpc, binding, errors, rejections }) => [
    ...(errors.includes("not_found") ? [notFoundCase(rpc, binding)] : []),
    ...(errors.includes("metadata_validation_failed") ? [metadataCase(rpc)] : []),
    ...decisionCases(rpc, { errors, rejections }),
  ]),
]) {
  const pair = pairOf(each);
  if (!cases.has(pair)) cases.set(pair, each);
}

describe("the error keys of the contract", async () => {
  const stack = await startStack("standalone", {
    SCRIP_LIMIT_BULK_PER_HOUR: String(BULK_CALLS_PER_HOUR),
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const shops = new Map<ProjectName, Promise<Shop>>();
  const shopOf = (name: ProjectName): Promise<Shop> => {
    const shop = shops.get(name) ?? createShop(stack, name);
    shops.set(name, shop);
    return shop;
  };

  test("have a case each, or a reason why not", () => {
    const covered = [...cases.keys(), ...UNREACHABLE_OVER_HTTP.keys()];
    expect(covered.toSorted()).toEqual(declaredPairs.toSorted());
  });

  const provoke = async ({
    rpc,
    key,
    place = "error",
    project = "main",
    side,
    request,
  }: ErrorCase): Promise<{ readonly outcome: readonly unknown[]; readonly text: string }> => {
    const binding = bindings.get(rpc)?.find((each) => side === undefined || each.side === side);
    if (binding === undefined) throw new Error(`${rpc} has no such binding`);
    const shop = await shopOf(project);
    const sent = typeof request === "function" ? await request(shop) : request;
    const { status, text, body } = await send(stack.url, shop, binding, sent);
    if (place === "error") return { outcome: [status, body["key"]], text };
    return { outcome: [status, errorKeysIn(body).find((each) => each === key)], text };
  };
  const expectedOf = ({ key, place = "error", isBodiless }: ErrorCase): readonly unknown[] =>
    place === "error"
      ? [catalogue[key as ErrorKey].http, isBodiless ? undefined : key]
      : [200, key];
  const named = [...cases].map(([pair, each]) => [pair.replace(" ", " returns "), each] as const);
  /** These requests wait for the order of another one, so they are sent together. */
  const waits = ([, { key }]: (typeof named)[number]): boolean => key === "multiple_requests";

  test.each(named.filter((each) => !waits(each)))("%s", async (_, each) => {
    const { outcome, text } = await provoke(each);
    expect(outcome, text).toEqual(expectedOf(each));
  });
  test.concurrent.each(named.filter(waits))("%s", async (_, each) => {
    const { outcome, text } = await provoke(each);
    expect(outcome, text).toEqual(expectedOf(each));
  });

  test.each(GENERAL_CASES)("any RPC returns $key", async ({ key, project = "main", request }) => {
    const { status, body } = await request(await shopOf(project), stack.url);
    expect([status, body["key"]], JSON.stringify(body)).toEqual([catalogue[key].http, key]);
  });

  test("include the whole catalogue, or there is a reason why not", () => {
    const provoked = new Set([...cases.values(), ...GENERAL_CASES].map(({ key }) => key));
    const known = [...provoked, ...UNPROVOKED_KEYS.keys()];
    expect(known.toSorted()).toEqual(Object.keys(catalogue).toSorted());
  });
});
