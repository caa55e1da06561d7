import { type Binding, ruleOf } from "@scrip/contract";
import { catalogue } from "@scrip/errors";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import { commentOf, summaryOf } from "./comments.ts";
import type { JsonSchema } from "./json-schema.ts";
import { type Parameter, parametersOf, sharedParameters } from "./parameters.ts";
import { errorResponses, headers, type Response, responsesOf } from "./responses.ts";
import { createSchemas, type Schemas } from "./schemas.ts";
import { securityOf, securitySchemes } from "./security.ts";

export type OpenApiOptions = {
  readonly version: string;
  /** Where clients reach the installation; relative to the document when absent. */
  readonly baseUrl?: string | undefined;
};

export type OpenApiDocument = {
  readonly openapi: "3.1.1";
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: ReturnType<typeof securityOf>;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
};

/** Describes every public path from the contract alone. */
export function openApiOf(bindings: readonly Binding[], options: OpenApiOptions): OpenApiDocument {
  const schemas = createSchemas(bindings);
  const error = schemas.reference(ErrorSchema, "answer");
  const ids = new Set<string>();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const binding of bindings) {
    const path = (paths[binding.path] ??= {});
    path[binding.httpMethod.toLowerCase()] = toOperation(binding, schemas, ids);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Scrip",
      version: options.version,
      summary: "Vouchers, promotions and loyalty as a service.",
      description: `${ABOUT}\n\n${errorTable()}`,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: options.baseUrl?.replace(/\/$/, "") ?? "/" }],
    tags: tagsOf(bindings),
    paths,
    components: {
      securitySchemes,
      parameters: sharedParameters,
      headers,
      responses: errorResponses(error),
      schemas: sortKeys(schemas.components),
    },
  };
}

const ABOUT = `Bodies are JSON; the token endpoints take forms. Amounts are integers in the smallest unit of the
currency, points are whole. Times are ISO 8601 with milliseconds and \`Z\`. Wherever a number is
expected a string of digits is taken too. \`null\` is read as absent, and in an update it clears the
property. Unknown properties are ignored. Where a customer is expected
a bare string is taken for its source id, or for its id when it starts with \`cust_\`.

Get an access token with \`POST /v1/oauth/token\` and send it as \`Authorization: Bearer …\` together
with the key that it was made with. Every refusal is the Error object.`;

function errorTable(): string {
  const rows = Object.entries(catalogue).map(
    ([key, { http, message }]) => `| ${http} | \`${key}\` | ${message} |`,
  );
  return ["## Errors", "", "| Status | Key | Message |", "|---|---|---|", ...rows].join("\n");
}

function toOperation(binding: Binding, schemas: Schemas, ids: Set<string>): Operation {
  const { method, scope } = binding;
  const comment = commentOf(`${method.parent.typeName}.${method.name}`) ?? method.name;
  const summary = summaryOf(comment).replace(`${method.name} `, "");
  const parameters = parametersOf(binding, schemas);
  const body = bodyOf(binding, schemas);
  return {
    operationId: operationIdOf(binding, ids),
    summary: summary.charAt(0).toUpperCase() + summary.slice(1),
    description: scope === undefined ? comment : `${comment}\n\nScope: \`${scope}\`.`,
    tags: [tagOf(binding)],
    security: securityOf(binding),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(binding, schemas),
  };
}

function bodyOf(binding: Binding, schemas: Schemas): Operation["requestBody"] {
  const { body, method, access } = binding;
  if (body === "none") return undefined;
  const message = body === "all" ? method.input : body.message;
  if (message === undefined) throw new Error(`${method.name}: the body is not a message`);
  const type = access.form ? "application/x-www-form-urlencoded" : "application/json";
  const schema = schemas.reference(message, "request");
  const isRequired = message.fields.some((field) => ruleOf(field).required);
  return { required: isRequired, content: { [type]: { schema } } };
}

/** The name of the RPC; further paths of the same RPC say what is different about them. */
function operationIdOf({ method, segments, side }: Binding, ids: Set<string>): string {
  const parameters = segments
    .flatMap((each) => (each.kind === "field" ? [each.field.localName] : []))
    .map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  const candidates = [
    method.localName,
    side === "client" ? `client${method.name}` : `${method.localName}By${parameters.join("And")}`,
  ];
  const id = candidates.find((each) => !ids.has(each));
  if (id === undefined) throw new Error(`${method.name} has more paths than names`);
  ids.add(id);
  return id;
}

/** VoucherService is Vouchers to a reader of the documentation. */
const tagOf = ({ method }: Binding): string => method.parent.name.replace(/Service$/, "");

function tagsOf(bindings: readonly Binding[]): { name: string; description: string }[] {
  const tags = new Map<string, string>();
  for (const binding of bindings) {
    const { typeName } = binding.method.parent;
    tags.set(tagOf(binding), commentOf(typeName) ?? typeName);
  }
  return [...tags].map(([name, description]) => ({ name, description }));
}

function sortKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).toSorted(([left], [right]) => left.localeCompare(right, "en")),
  );
}
