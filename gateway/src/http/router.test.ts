import { expect, test } from "vitest";

import { createRouter } from "./router.ts";

const route = (method: string, path: string) => ({
  method,
  path,
  segments: path.slice(1).split("/"),
});

const router = createRouter([
  route("POST", "/v1/vouchers"),
  route("GET", "/v1/vouchers"),
  route("GET", "/v1/vouchers/{code}"),
  route("PUT", "/v1/vouchers/{code}"),
  route("POST", "/v1/vouchers/import"),
  route("POST", "/v1/vouchers/latest"),
  route("POST", "/v1/vouchers/{code}/redemption"),
  route("DELETE", "/v1/projects/{project_id}/keys/{key_id}"),
]);

test.each([
  ["GET", "/v1/vouchers", "/v1/vouchers", []],
  ["GET", "/v1/vouchers/", "/v1/vouchers", []],
  ["HEAD", "/v1/vouchers", "/v1/vouchers", []],
  ["GET", "/v1/vouchers/A%2FB%20%25", "/v1/vouchers/{code}", ["A%2FB%20%25"]],
  ["POST", "/v1/vouchers/import", "/v1/vouchers/import", []],
  ["PUT", "/v1/vouchers/latest", "/v1/vouchers/{code}", ["latest"]],
  ["POST", "/v1/vouchers/latest/redemption", "/v1/vouchers/{code}/redemption", ["latest"]],
  ["POST", "/v1/vouchers/x/redemption/", "/v1/vouchers/{code}/redemption", ["x"]],
  ["DELETE", "/v1/projects/p/keys/k", "/v1/projects/{project_id}/keys/{key_id}", ["p", "k"]],
] as const)("%s %s matches %s", (method, path, template, params) => {
  const match = router.match(method, path);
  expect(match).toMatchObject({ kind: "found", route: { path: template }, params });
});

test("reports the allowed methods of a path", () => {
  expect(router.match("DELETE", "/v1/vouchers")).toMatchObject({
    kind: "other_method",
    allowed: ["GET", "HEAD", "POST"],
  });
  expect(router.match("DELETE", "/v1/vouchers/latest")).toMatchObject({
    kind: "other_method",
    allowed: ["GET", "HEAD", "POST", "PUT"],
  });
});

test("reads no reserved word as a parameter", () => {
  expect(router.match("PUT", "/v1/vouchers/import")).toMatchObject({
    kind: "other_method",
    allowed: ["POST"],
  });
  for (const word of [
    "qualification",
    "importCSV",
    "bulk",
    "metadata",
    "export",
    "%65xport",
    "..",
    "%2e",
  ]) {
    expect(router.match("GET", `/v1/vouchers/${word}`).kind).toBe("none");
    expect(router.match("POST", `/v1/vouchers/${word}/redemption`).kind).toBe("none");
  }
  expect(router.match("GET", "/v1/vouchers/Export").kind).toBe("found");
});

test.each([
  "/",
  "",
  "*",
  "/v1",
  "/v1/vouchers//redemption",
  "/v1/vouchers/x//",
  "//v1/vouchers",
  "/v1/vouchers/x/y",
  "/V1/vouchers",
  "/v1/vouchers/../vouchers",
  `/${"x/".repeat(10_000)}`,
])("%s matches no route", (path) => {
  expect(router.match("POST", path).kind).toBe("none");
});

test("rejects two routes with the same method and path", () => {
  expect(() => createRouter([route("GET", "/a/{b}"), route("GET", "/a/{c}")])).toThrow(
    /two routes/,
  );
});
