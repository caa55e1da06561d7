import { Code } from "@connectrpc/connect";
import { catalogue, type ErrorKey, grpcCodeOf } from "@scrip/errors";
import { describe, expect, test } from "vitest";

import { docsPages } from "../docs/examples.ts";

const pages = docsPages();

describe("the page of error keys", () => {
  const text = pages.find(({ file }) => file === "errors.md")?.text ?? "";
  const sections = text.slice(text.indexOf("\n## Keys\n")).split("\n### ").slice(1);

  test("has a section for each key of the catalogue, in its order", () => {
    expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(Object.keys(catalogue));
  });

  test.each(sections)("%s", (section) => {
    const [key, , facts, , cause, remedy] = section.split("\n");
    const { http, message } = catalogue[key as ErrorKey];
    const grpc = Code[grpcCodeOf(key as ErrorKey)].replace(/([a-z])([A-Z])/g, "$1_$2");
    expect(facts).toBe(`HTTP ${http}, gRPC \`${grpc.toUpperCase()}\`, message "${message}"`);
    expect(cause).toMatch(/^- Cause: .{20,}/);
    expect(remedy).toMatch(/^- Remedy: .{10,}/);
  });
});
