import {
  type DescField,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { http } from "@scrip/proto/google/api/annotations_pb";
import type { HttpRule } from "@scrip/proto/google/api/http_pb";
import { type Access, Audit } from "@scrip/proto/scrip/options/v1/options_pb";

import { accessOf, auditOptionOf } from "./options.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Which credentials a path accepts; `anyone` needs none. */
export type Side = "server" | "client" | "management" | "key_only" | "anyone";

export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "field"; readonly field: DescField };

/** The content of the body: none, the whole message, or one of its fields. */
export type Body = "none" | "all" | DescField;

/** One HTTP route of an RPC. */
export type Binding = {
  readonly method: DescMethod;
  readonly httpMethod: HttpMethod;
  /** The path template of the contract: `/v1/vouchers/{code}`. */
  readonly path: string;
  readonly segments: readonly Segment[];
  readonly body: Body;
  /** The list field that is the whole JSON response; undefined: the response is the message. */
  readonly responseBody: DescField | undefined;
  readonly side: Side;
  /** The required scope; undefined where the side has no scopes. */
  readonly scope: string | undefined;
  readonly access: Access;
};

/**
 * Returns every HTTP route of the services. Throws when an RPC has no access option, so that a
 * forgotten option prevents the start instead of exposing the RPC.
 */
export function bindingsOf(services: readonly DescService[]): Binding[] {
  const bindings = services.flatMap(({ methods }) => methods.flatMap(bindingsOfMethod));
  const seen = new Map<string, Binding>();
  for (const binding of bindings) {
    const key = collisionKey(binding);
    const other = seen.get(key);
    if (other !== undefined) {
      throw new Error(`${nameOf(binding.method)} and ${nameOf(other.method)} share ${key}`);
    }
    seen.set(key, binding);
  }
  return bindings;
}

function bindingsOfMethod(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const access = accessOf(method);
  if (access === undefined) throw new Error(`${nameOf(method)} has a path but no access option`);
  const rule = getOption(method, http);
  const [first, ...others] = [rule, ...rule.additionalBindings].map((each) =>
    toBinding(method, access, each),
  );
  return first === undefined ? [] : [first, ...others.map((each) => inScopeOfPath(each, first))];
}

/**
 * The first segment of a path determines its scope. An additional path of an RPC that begins with another resource
 * therefore needs the scope of that resource.
 */
function inScopeOfPath(binding: Binding, { side, path }: Binding): Binding {
  const [resource, own] = [path, binding.path].map((each) => each.split("/")[2]);
  const isElsewhere = side === "server" && binding.side === "server" && own !== resource;
  return isElsewhere ? { ...binding, scope: own } : binding;
}

/** The HTTP methods of the paths of an RPC; none for an internal RPC. */
export function httpMethodsOf(method: DescMethod): readonly string[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map(({ pattern }) => pattern.case?.toUpperCase() ?? "");
}

/** The fields in the first path of an RPC, in their order; none for an internal RPC. */
export const pathFieldsOf = (method: DescMethod): readonly DescField[] =>
  fieldsOfPaths(method)[0]?.fields ?? [];

/** The fields in all server-side paths of an RPC, which no HTTP request to them lacks. */
export function requiredPathFieldsOf(method: DescMethod): readonly DescField[] {
  const paths = fieldsOfPaths(method).filter(({ path }) => path.startsWith("/v1/"));
  const [first, ...others] = paths.map(({ fields }) => fields);
  return first?.filter((field) => others.every((fields) => fields.includes(field))) ?? [];
}

function fieldsOfPaths(
  method: DescMethod,
): { readonly path: string; readonly fields: readonly DescField[] }[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].flatMap(({ pattern }) => {
    const path = pattern.value;
    if (typeof path !== "string") return [];
    const fields = segmentsOf(method, path).flatMap((each) =>
      each.kind === "field" ? [each.field] : [],
    );
    return [{ path, fields }];
  });
}

/** Whether successful calls of an RPC leave an entry in the audit log. */
export function isAudited(method: DescMethod): boolean {
  const option = auditOptionOf(method);
  const writes = httpMethodsOf(method).some((verb) => verb !== "GET");
  return option === Audit.ALWAYS || (writes && option !== Audit.NONE);
}

function toBinding(method: DescMethod, access: Access, rule: HttpRule): Binding {
  const { case: verb, value: path } = rule.pattern;
  if (verb === undefined || verb === "custom") {
    throw new Error(`${nameOf(method)} has a path with an unsupported method`);
  }
  const httpMethod = verb.toUpperCase() as HttpMethod;
  const side = sideOf(method, access, path);
  return {
    method,
    httpMethod,
    path,
    segments: segmentsOf(method, path),
    body: bodyOf(method, rule.body),
    responseBody: responseBodyOf(method, rule.responseBody),
    side,
    scope: side === "server" ? access.server : side === "client" ? access.client : undefined,
    access,
  };
}

function sideOf(method: DescMethod, access: Access, path: string): Side {
  const side = sideOfPath(access, path);
  if (side === undefined) throw new Error(`${nameOf(method)} has no access option for ${path}`);
  return side;
}

function sideOfPath(access: Access, path: string): Side | undefined {
  if (path.startsWith("/client/v1/")) return access.client === "" ? undefined : "client";
  if (path.startsWith("/management/v1/")) return access.management ? "management" : undefined;
  if (!path.startsWith("/v1/")) return undefined;
  if (access.unauthenticated) return "anyone";
  if (access.keyOnly) return "key_only";
  return access.server === "" ? undefined : "server";
}

function segmentsOf(method: DescMethod, path: string): Segment[] {
  return path
    .slice(1)
    .split("/")
    .map((text): Segment => {
      const name = /^\{(\w+)\}$/.exec(text)?.[1];
      if (name === undefined) {
        if (!/^[\w.-]+$/.test(text))
          throw new Error(`${nameOf(method)}: unknown syntax in ${path}`);
        return { kind: "literal", text };
      }
      const field = method.input.fields.find((each) => each.name === name);
      if (field?.fieldKind !== "scalar") {
        throw new Error(`${nameOf(method)}: {${name}} is not a plain field of the request`);
      }
      return { kind: "field", field };
    });
}

function bodyOf(method: DescMethod, body: string): Body {
  if (body === "") return "none";
  if (body === "*") return "all";
  const field = method.input.fields.find(({ name }) => name === body);
  if (field === undefined) throw new Error(`${nameOf(method)}: the body is not a field`);
  return field;
}

function responseBodyOf(method: DescMethod, name: string): DescField | undefined {
  if (name === "") return undefined;
  const [field, ...others] = method.output.fields;
  if (field?.name !== name || field.fieldKind !== "list" || others.length > 0) {
    throw new Error(`${nameOf(method)}: the response body is not the only field, a list`);
  }
  return field;
}

function collisionKey(binding: Binding): string {
  const path = binding.segments.map((each) => (each.kind === "literal" ? each.text : "{}"));
  return `${binding.httpMethod} /${path.join("/")}`;
}

const nameOf = (method: DescMethod): string => `${method.parent.typeName}.${method.name}`;
