import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import type { DescMessage } from "@bufbuild/protobuf";
import { bindingsOf } from "@scrip/contract";
import { createEncoders } from "@scrip/contract";
import { catalogue } from "@scrip/errors";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { messageArbitrary } from "../../test/transcode/message-arbitrary.ts";
import { bindings } from "../../test/transcode/public-contract.ts";
import { publicServices } from "../public-services.ts";
import { openApiOf, type Operation } from "./document.ts";
import type { JsonSchema } from "./json-schema.ts";

const document = openApiOf(bindings, { version: "1.2.3", baseUrl: "https://scrip.test/" });
const schemas = document.components["schemas"] as Record<string, JsonSchema>;

function operation(method: string, at: string): Operation {
  const found = document.paths[at]?.[method];
  if (found === undefined) throw new Error(`no ${method} ${at}`);
  return found;
}

test("passes the linter without a warning", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-openapi-"));
  try {
    const file = path.join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(document));
    const require = createRequire(import.meta.url);
    const redocly = path.join(
      path.dirname(require.resolve("@redocly/cli/package.json")),
      "bin/cli.js",
    );
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [redocly, "lint", "--format=json", "--extends=recommended", file],
      {
        env: {
          ...process.env,
          REDOCLY_TELEMETRY: "off",
          REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        },
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("contains every endpoint of the contract under a unique operation id", () => {
  const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
  expect(operations).toHaveLength(bindings.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(bindings.length);
});

test("requires all credentials of a side, or none", () => {
  expect(operation("post", "/v1/vouchers").security).toEqual([
    { AppId: [], AppToken: [], AccessToken: ["vouchers"] },
  ]);
  expect(operation("post", "/client/v1/validations").security).toEqual([
    { ClientApplicationId: [], ClientToken: [], Origin: [], AccessToken: ["client_validations"] },
  ]);
  expect(operation("post", "/management/v1/projects").security).toEqual([
    { ManagementId: [], ManagementToken: [] },
  ]);
  expect(operation("post", "/v1/oauth/token").security).toEqual([{ AppId: [], AppToken: [] }]);
  expect(operation("get", "/v1/assets/qr/{id}").security).toEqual([]);
});

test("places each field in the path, query or body", () => {
  const redeem = operation("post", "/v1/vouchers/{code}/redemption");
  expect(redeem.parameters).toMatchObject([
    { name: "code", in: "path", required: true },
    { name: "tracking_id", in: "query", required: false },
    { $ref: "#/components/parameters/IdempotencyKey" },
  ]);
  const body = schemas["RedeemVoucherRequest"]?.properties ?? {};
  expect(Object.keys(body)).toEqual([
    "session",
    "customer",
    "order",
    "metadata",
    "options",
    "gift",
    "reward",
  ]);
  expect(schemas["UpdateVoucherRequest"]?.properties).not.toHaveProperty("update_mask");
  const list = operation("get", "/v1/vouchers").parameters ?? [];
  expect(list).toContainEqual({
    name: "created_at",
    in: "query",
    required: false,
    style: "deepObject",
    explode: true,
    description: "Only vouchers that were created in this range.",
    schema: { $ref: "#/components/schemas/TimeRange" },
  });
  expect(operation("post", "/v1/oauth/token").requestBody?.content).toHaveProperty([
    "application/x-www-form-urlencoded",
  ]);
  expect(operation("delete", "/v1/vouchers/{code}").responses["204"]).not.toHaveProperty("content");
});

test("describes bounds, patterns and required fields", () => {
  expect(schemas["RedeemableRef"]).toMatchObject({
    required: ["object", "id"],
    properties: {
      object: { type: "string", enum: ["voucher", "promotion_tier", "promotion_stack"] },
      id: { type: "string", minLength: 1, maxLength: 255 },
    },
  });
  expect(schemas["DiscountInput"]?.properties?.["percent_off"]).toMatchObject({
    type: "number",
    minimum: 0,
    maximum: 100,
  });
  expect(schemas["Voucher"]?.properties?.["discount"]).toEqual({
    description: "Discount; `null` for other types.",
    anyOf: [{ $ref: "#/components/schemas/Discount" }, { type: "null" }],
  });
  expect(schemas["CustomerInput"]?.anyOf).toHaveLength(2);
});

const whole = openApiOf(bindingsOf(publicServices), { version: "1.2.3" });

test("lists every error key", () => {
  const text = JSON.stringify(whole);
  // The contract rejects negative gift credits as invalid_payload before validation can.
  const reachable = Object.keys(catalogue).filter((key) => key !== "invalid_gift");
  for (const key of reachable) expect(text).toContain(`\`${key}\``);
});

describe("error responses of an operation", () => {
  const { responses } = operation("post", "/v1/redemptions");

  test("list the keys that its RPC declares, with an example each", () => {
    const badRequest = responses["400"] as any;
    expect(badRequest.description).toContain(
      "[`duplicated_redeemables`](/docs/errors#duplicated_redeemables): Duplicated redeemables detected",
    );
    expect(badRequest.content["application/json"].examples).toMatchObject({
      invalid_payload: { $ref: "#/components/examples/invalid_payload" },
      duplicated_redeemables: { $ref: "#/components/examples/duplicated_redeemables" },
    });
    expect((document.components["examples"] as any).duplicated_redeemables.value).toEqual({
      code: 400,
      key: "duplicated_redeemables",
      message: "Duplicated redeemables detected",
      request_id: expect.stringMatching(/^v-[0-9a-f]{18}$/),
    });
  });

  test("refer to a shared response where only the gateway rejects", () => {
    expect(responses["401"]).toEqual({ $ref: "#/components/responses/Unauthorized" });
    expect(responses["429"]).toEqual({ $ref: "#/components/responses/TooManyRequests" });
  });

  test("have the statuses of the declared keys", () => {
    const statuses = (method: string, at: string) => Object.keys(operation(method, at).responses);
    expect(statuses("post", "/v1/categories")).not.toContain("404");
    expect(statuses("get", "/v1/vouchers/{code}")).toContain("404");
    expect(statuses("post", "/management/v1/projects/{project_id}/stacking-rules")).toContain(
      "409",
    );
  });
});

describe("generated clients compile:", () => {
  const components = whole.components["schemas"] as Record<string, JsonSchema>;
  const names = new Set(Object.keys(components));
  const pascalCase = (name: string) =>
    name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

  /** The schemas inside a schema, with the names that generators give them; references have names already. */
  function inlineSchemas(name: string, schema: JsonSchema): [string, JsonSchema][] {
    const { properties = {}, items, additionalProperties, anyOf = [] } = schema;
    const inner: [string, JsonSchema | undefined][] = [
      ...Object.entries(properties).map(([property, each]): [string, JsonSchema] => [
        name + pascalCase(property),
        each,
      ]),
      ...anyOf.map((each, index): [string, JsonSchema] => [`${name}Type${index}`, each]),
      [`${name}Item`, items],
      [
        `${name}AdditionalProperty`,
        typeof additionalProperties === "object" ? additionalProperties : undefined,
      ],
    ];
    return inner.flatMap(([innerName, each]) =>
      each === undefined ? [] : [[innerName, each], ...inlineSchemas(innerName, each)],
    );
  }
  const inline = Object.entries(components).flatMap(([name, each]) => inlineSchemas(name, each));
  const isObject = ({ type }: JsonSchema) => [type].flat().includes("object");

  test("no schema has the name of another one's constructor", () => {
    expect([...names].filter((name) => names.has(`New${name}`))).toEqual([]);
    expect(components).toHaveProperty("EarningRule");
    expect(components).toHaveProperty("EarningRuleInput");
  });

  test("no inline object or enum gets the name of a schema or of another one", () => {
    const generated = inline
      .filter(([, each]) => isObject(each) || each.enum !== undefined)
      .map(([name]) => name);
    expect(generated.filter((name) => names.has(name))).toEqual([]);
    expect(new Set(generated).size).toBe(generated.length);
  });

  test("no branch of anyOf is an inline object that contains others", () => {
    const branches = [...Object.entries(components), ...inline].flatMap(([name, { anyOf = [] }]) =>
      anyOf.map((each): [string, JsonSchema] => [name, each]),
    );
    const nested = branches.filter(([name, each]) =>
      inlineSchemas(name, each).some(([, inner]) => isObject(inner)),
    );
    expect(nested).toEqual([]);
    expect(components["CustomerInput"]?.anyOf).toEqual([
      { $ref: "#/components/schemas/CustomerInputObject" },
      { type: "string" },
    ]);
  });

  test("null is a branch of its own beside objects", () => {
    const lists = inline.filter(([, each]) => Array.isArray(each.type) && isObject(each));
    expect(lists).toEqual([]);
    expect(components["Redemption"]?.properties?.["metadata"]?.anyOf).toEqual([
      { type: "object", additionalProperties: true },
      { type: "null" },
    ]);
  });
});

test("cites no documents that integrators cannot open", () => {
  expect(JSON.stringify(document)).not.toMatch(/spec\/|§|decisions\//);
});

describe("every encoded response matches its schema:", () => {
  const ajv = new Ajv2020({ strict: false });
  // ajv-formats rejects valid date-times, such as those before the year 1000.
  addFormats.default(ajv, ["date"]);
  ajv.addFormat("date-time", true);
  ajv.addFormat("duration", true);
  ajv.addFormat("int32", true);
  ajv.addFormat("int64", true);
  ajv.addSchema({ $id: "scrip", components: document.components });
  const encoderOf = createEncoders();
  const responseMessages = new Map<string, DescMessage>(
    bindings
      .map(({ method }) => method.output)
      .filter(({ typeName }) => !typeName.startsWith("google."))
      .map((desc) => [desc.name, desc]),
  );

  test.each([...responseMessages])("%s", (name, desc) => {
    const validate = ajv.compile({ $ref: `scrip#/components/schemas/${name}` });
    const encode = encoderOf(desc);
    fc.assert(
      fc.property(messageArbitrary(desc), (message) => {
        validate(JSON.parse(encode(message)));
        expect(validate.errors).toBeNull();
      }),
      { numRuns: 30 },
    );
  });
});
