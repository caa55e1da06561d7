import { type Binding, ruleOf } from "@scrip/contract";

import { commentOf, summaryOf } from "./comments.ts";
import type { JsonSchema } from "./json-schema.ts";
import { type Parameter, parametersOf, sharedParameters } from "./parameters.ts";
import { createResponses, headers, type Response, type Responses } from "./responses.ts";
import { createSchemas, type Schemas } from "./schemas.ts";
import { securityOf, securitySchemes } from "./security.ts";

export type OpenApiOptions = {
  readonly version: string;
  /** URL of the installation; relative to the document when absent. */
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

/** Generates the OpenAPI document of all public endpoints from the contract. */
export function openApiOf(bindings: readonly Binding[], options: OpenApiOptions): OpenApiDocument {
  const schemas = createSchemas(bindings);
  const responses = createResponses(schemas);
  const ids = new Set<string>();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const binding of bindings) {
    const path = (paths[binding.path] ??= {});
    path[binding.httpMethod.toLowerCase()] = toOperation(binding, { schemas, responses, ids });
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Scrip",
      version: options.version,
      summary: "Vouchers, promotions and loyalty as a service.",
      description: ABOUT,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: options.baseUrl?.replace(/\/$/, "") ?? "/" }],
    tags: tagsOf(bindings),
    paths,
    components: {
      securitySchemes,
      parameters: sharedParameters,
      headers,
      responses: sortKeys(responses.components),
      examples: sortKeys(responses.examples),
      schemas: sortKeys(schemas.components),
    },
  };
}

const ABOUT = `Request and response bodies are JSON; the token endpoints accept form-encoded requests.

- Amounts are integers in the smallest unit of the currency; points are whole numbers.
- Timestamps are ISO 8601 in UTC with milliseconds. Where a number is expected, a string of digits is accepted.
- \`null\` is read as absent; in an update it clears the property. Unknown properties are ignored.
- Where a customer is expected, a string is read as the \`source_id\`, or as the \`id\` when it starts with \`cust_\`.

Get an access token with \`POST /v1/oauth/token\` and send it as \`Authorization: Bearer …\` together with the key that
requested it ([authentication](/docs/authentication)).

Every error is an Error object with a stable \`key\`; [errors](/docs/errors) lists each key with cause and remedy. Operations list the keys
they return. Any request can also be rejected with \`method_not_allowed\` (405), \`not_acceptable\` (406),
\`request_timeout\` (408), \`expectation_failed\` (417), \`not_implemented\` (501) or \`deadline_exceeded\` (504), and a
download by its link with \`range_not_satisfiable\` (416).`;

type OperationContext = {
  readonly schemas: Schemas;
  readonly responses: Responses;
  /** Operation ids in use. */
  readonly ids: Set<string>;
};

function toOperation(binding: Binding, { schemas, responses, ids }: OperationContext): Operation {
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
    responses: responses.of(binding),
  };
}

function bodyOf(binding: Binding, schemas: Schemas): Operation["requestBody"] {
  const { body, method, access } = binding;
  if (body === "none") return undefined;
  if (access.upload) return FILE;
  const message = body === "all" ? method.input : body.message;
  if (message === undefined) throw new Error(`${method.name}: a request body must be a message`);
  const type = access.form ? "application/x-www-form-urlencoded" : "application/json";
  const reference = schemas.reference(message, "request");
  const isList = body !== "all" && body.fieldKind === "list";
  const schema = isList ? { type: "array" as const, items: reference } : reference;
  const isRequired = message.fields.some((field) => ruleOf(field).required);
  return { required: isRequired, content: { [type]: { schema } } };
}

const FILE: Operation["requestBody"] = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        required: ["file"],
        properties: { file: { type: "string", format: "binary" } },
      },
    },
  },
};

/** The name of the RPC; further paths of the same RPC add their side, path parameters or last word. */
function operationIdOf({ method, segments, side, body }: Binding, ids: Set<string>): string {
  const parameters = segments.flatMap((each) =>
    each.kind === "field" ? [capitalized(each.field.localName)] : [],
  );
  const byParameters = `${method.localName}By${parameters.join("And")}`;
  const last = segments.findLast((each) => each.kind === "literal");
  const candidates = [
    method.localName,
    side === "client" ? `client${method.name}` : byParameters,
    ...(body === "none" && side === "client" ? [`client${method.name}ByQuery`] : []),
    ...(last === undefined ? [] : [`${byParameters}In${capitalized(last.text)}`]),
  ];
  const id = candidates.find((each) => !ids.has(each));
  if (id === undefined) throw new Error(`${method.name} has paths that get the same operation id`);
  ids.add(id);
  return id;
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `VoucherService` is shown as `Voucher`. */
const tagOf = ({ method }: Binding): string => method.parent.name.replace(/Service$/, "");

function tagsOf(bindings: readonly Binding[]): { name: string; description: string }[] {
  const tags = new Map<string, string>();
  for (const binding of bindings) {
    const { typeName } = binding.method.parent;
    tags.set(tagOf(binding), commentOf(typeName) ?? typeName);
  }
  return [...tags].map(([name, description]) => ({ name, description }));
}

/** Once, because a comparison that names its language looks it up each time. */
const { compare } = new Intl.Collator("en");

const sortKeys = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([left], [right]) => compare(left, right)));
