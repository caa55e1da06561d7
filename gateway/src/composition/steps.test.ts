import { readFileSync } from "node:fs";
import path from "node:path";

import type { DescMethodUnary } from "@bufbuild/protobuf";
import { bindingsOf } from "@scrip/contract";
import { describe, expect, test } from "vitest";

import { publicServices } from "../public-services.ts";
import { compileCompletion } from "./complete-response.ts";
import type { CompositionDeps } from "./step.ts";
import { callSteps, compositionSteps } from "./steps.ts";

// Compiling a step reads the contract only, so the clients are never called.
const unused = {} as any;
const deps: CompositionDeps = {
  campaigns: unused,
  campaignActions: unused,
  categories: unused,
  validationRules: unused,
  units: unused,
  holdings: unused,
  customEvents: unused,
  dueJobs: unused,
  earningRules: unused,
  rewards: unused,
  referralTiers: unused,
  segments: unused,
  vouchers: unused,
  webhooks: unused,
  followProject: unused,
  findSchemas: () => undefined,
  reserveIds: unused,
};
const targets = bindingsOf(publicServices).map(({ method, httpMethod, side }) => ({
  rpc: method as DescMethodUnary,
  httpMethod,
  side,
}));

describe("composition steps", () => {
  test.each(callSteps)("$name applies to a public endpoint", ({ compile }) => {
    expect(targets.some((target) => compile(target, deps) !== undefined)).toBe(true);
  });

  test("complete-response applies to a public endpoint", () => {
    expect(targets.some((target) => compileCompletion(target, deps) !== undefined)).toBe(true);
  });

  test("no endpoint resolves more than one kind of reference", () => {
    const resolving = callSteps.filter(({ name }) => name.startsWith("resolve-"));
    for (const target of targets) {
      const steps = resolving.filter(({ compile }) => compile(target, deps) !== undefined);
      expect(steps.length, target.rpc.name).toBeLessThanOrEqual(1);
    }
  });

  test("the README lists the same steps in the same order", () => {
    const readme = readFileSync(path.join(import.meta.dirname, "../../README.md"), "utf8");
    const rows = [
      ...readme.matchAll(/^\| `([a-z-]+)` +\| (before|around|instead of|after) the call /gm),
    ];
    expect(rows.map(([, name, when]) => ({ name, runs: `${when} the call` }))).toEqual(
      compositionSteps.map(({ name, runs }) => ({ name, runs })),
    );
  });
});
