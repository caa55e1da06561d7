import {
  create,
  type DescService,
  fromBinary,
  type MessageInitShape,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import { createFileRegistry } from "@bufbuild/protobuf";
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "@scrip/proto/google/api/annotations_pb";
import { HttpRuleSchema } from "@scrip/proto/google/api/http_pb";
import { access, AccessSchema } from "@scrip/proto/scrip/options/v1/options_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { expect, test } from "vitest";

import { bindingsOf } from "./bindings.ts";

type RouteInput = {
  path: MessageInitShape<typeof HttpRuleSchema>["pattern"];
  access?: MessageInitShape<typeof AccessSchema>;
  body?: string;
};

/** A service of RPCs `Rpc0`, `Rpc1`… whose request has the single field `code`. */
function service(...routes: RouteInput[]): DescService {
  const request = create(DescriptorProtoSchema, {
    name: "Request",
    field: [
      {
        name: "code",
        number: 1,
        type: FieldDescriptorProto_Type.STRING,
        label: FieldDescriptorProto_Label.OPTIONAL,
      },
    ],
  });
  const method = routes.map((route, index) => {
    const options = create(MethodOptionsSchema);
    setExtension(
      options,
      http,
      create(HttpRuleSchema, { pattern: route.path!, body: route.body ?? "" }),
    );
    if (route.access !== undefined) {
      setExtension(options, access, create(AccessSchema, route.access));
    }
    return {
      name: `Rpc${index}`,
      inputType: ".test.Request",
      outputType: ".test.Request",
      options,
    };
  });
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    messageType: [request],
    service: [{ name: "TestService", method }],
  });
  const bytes = toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [file] }),
  );
  const found = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes)).getService(
    "test.TestService",
  );
  if (found === undefined) throw new Error("no service");
  return found;
}

const get = (value: string): RouteInput["path"] => ({ case: "get", value });
const post = (value: string): RouteInput["path"] => ({ case: "post", value });
const server = { server: "vouchers" };

test("returns one binding per path, with its side and its scope", () => {
  const bindings = bindingsOf([
    VoucherService,
    RedemptionService,
    ValidationService,
    PublicationService,
  ]);
  const shown = bindings.map(({ httpMethod, path, side, scope }) => [
    httpMethod,
    path,
    side,
    scope,
  ]);
  expect(shown).toContainEqual(["POST", "/v1/vouchers", "server", "vouchers"]);
  expect(shown).toContainEqual(["POST", "/v1/vouchers/{code}", "server", "vouchers"]);
  expect(shown).toContainEqual(["POST", "/v1/validations", "server", "validations"]);
  expect(shown).toContainEqual(["POST", "/v1/publications", "server", "publications"]);
  expect(shown).toContainEqual(["POST", "/v1/vouchers/publish", "server", "vouchers"]);
  expect(shown).toContainEqual(["POST", "/client/v1/validations", "client", "client_validations"]);
  expect(shown).toContainEqual(["GET", "/v1/assets/qr/{id}", "anyone", undefined]);
  expect(bindings.some(({ method }) => method.name === "CommitRedemptions")).toBe(false);
});

test("splits a path into literals and fields", () => {
  const [binding] = bindingsOf([
    service({ path: get("/v1/vouchers/{code}/redemption"), access: server }),
  ]);
  expect(binding?.segments).toMatchObject([
    { kind: "literal", text: "v1" },
    { kind: "literal", text: "vouchers" },
    { kind: "field", field: { name: "code" } },
    { kind: "literal", text: "redemption" },
  ]);
});

test.each<[string, RouteInput[], string]>([
  [
    "a path without an access option",
    [{ path: get("/v1/a") }],
    "test.TestService.Rpc0 has a path but no access option",
  ],
  [
    "a server path without a scope",
    [{ path: get("/v1/a"), access: { client: "c" } }],
    "has no access option for /v1/a",
  ],
  [
    "a client path without a scope",
    [{ path: get("/client/v1/a"), access: server }],
    "has no access option for /client/v1/a",
  ],
  [
    "a management path without the flag",
    [{ path: get("/management/v1/a"), access: server }],
    "has no access option for /management/v1/a",
  ],
  ["a path outside the API", [{ path: get("/a"), access: server }], "has no access option for /a"],
  [
    "the same path twice",
    [
      { path: get("/v1/a/{code}"), access: server },
      { path: get("/v1/a/{code}"), access: server },
    ],
    "test.TestService.Rpc1 and test.TestService.Rpc0 share GET /v1/a/{}",
  ],
  [
    "a path of an unknown field",
    [{ path: get("/v1/{name}"), access: server }],
    "{name} is not a plain field of the request",
  ],
  ["a wildcard", [{ path: get("/v1/{code=**}"), access: server }], "unknown syntax"],
  [
    "a custom method",
    [{ path: { case: "custom", value: { kind: "HEAD", path: "/v1/a" } }, access: server }],
    "with an unsupported method",
  ],
  [
    "an unknown body",
    [{ path: post("/v1/a"), body: "items", access: server }],
    "the body is not a field",
  ],
])("prevents the start on %s", (_, routes, message) => {
  expect(() => bindingsOf([service(...routes)])).toThrow(message);
});

test("allows a literal and a field at the same position", () => {
  const routes = [get("/v1/a/{code}"), get("/v1/a/b"), post("/v1/a/b")];
  expect(bindingsOf([service(...routes.map((path) => ({ path, access: server })))])).toHaveLength(
    3,
  );
});
