import { create, type DescFile, type DescService, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import { Health } from "@scrip/proto/grpc/health/v1/health_pb";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "@scrip/proto/grpc/reflection/v1/reflection_pb";
import * as v1alpha from "@scrip/proto/grpc/reflection/v1alpha/reflection_pb";

import { OPEN_SERVICE_LIMITS } from "./guard-bodies.ts";

/**
 * `grpc.reflection.v1`, so that tools such as grpcurl can list and call the services by name, and `v1alpha`, which has the
 * same messages and is the only one that some clients know.
 */
export function reflectionRoutes(router: ConnectRouter, services: readonly DescService[]): void {
  const index = indexOf([...services, Health, ServerReflection, v1alpha.ServerReflection]);
  router.service(
    ServerReflection,
    {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) yield respond(index, request);
      },
    },
    OPEN_SERVICE_LIMITS,
  );
  router.service(
    v1alpha.ServerReflection,
    {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          const bytes = toBinary(v1alpha.ServerReflectionRequestSchema, request);
          const response = respond(index, fromBinary(ServerReflectionRequestSchema, bytes));
          yield fromBinary(
            v1alpha.ServerReflectionResponseSchema,
            toBinary(ServerReflectionResponseSchema, response),
          );
        }
      },
    },
    OPEN_SERVICE_LIMITS,
  );
}

type Index = {
  readonly names: readonly string[];
  readonly files: ReadonlyMap<string, DescFile>;
  readonly symbols: ReadonlyMap<string, DescFile>;
};

function indexOf(services: readonly DescService[]): Index {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const visit = (file: DescFile): void => {
    if (files.has(`${file.name}.proto`)) return;
    files.set(`${file.name}.proto`, file);
    for (const type of [...file.messages, ...file.enums, ...file.services, ...file.extensions]) {
      symbols.set(type.typeName, file);
    }
    for (const service of file.services) {
      for (const method of service.methods) symbols.set(`${service.typeName}.${method.name}`, file);
    }
    file.dependencies.forEach(visit);
  };
  for (const service of services) visit(service.file);
  return { names: services.map(({ typeName }) => typeName), files, symbols };
}

function respond(index: Index, request: ServerReflectionRequest): ServerReflectionResponse {
  return create(ServerReflectionResponseSchema, {
    validHost: request.host,
    originalRequest: request,
    messageResponse: responseOf(index, request.messageRequest),
  });
}

type ReflectionRequest = ServerReflectionRequest["messageRequest"];
type Response = ServerReflectionResponse["messageResponse"];

function responseOf(index: Index, request: ReflectionRequest): Response {
  switch (request.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: {
          $typeName: "grpc.reflection.v1.ListServiceResponse",
          service: index.names.map((name) => ({
            $typeName: "grpc.reflection.v1.ServiceResponse",
            name,
          })),
        },
      };
    case "fileByFilename":
      return fileResponse(index.files.get(request.value), request.value);
    case "fileContainingSymbol":
      return fileResponse(index.symbols.get(request.value), request.value);
    case "fileContainingExtension":
    case "allExtensionNumbersOfType":
    case undefined:
      return errorResponse(Code.Unimplemented, "extensions are not supported");
  }
}

/** Returns the file with all its imports: clients need the closure, and save further requests. */
function fileResponse(file: DescFile | undefined, name: string): Response {
  if (file === undefined) return errorResponse(Code.NotFound, `unknown: ${name}`);
  const closure = new Set<DescFile>();
  const visit = (each: DescFile): void => {
    if (closure.has(each)) return;
    closure.add(each);
    each.dependencies.forEach(visit);
  };
  visit(file);
  return {
    case: "fileDescriptorResponse",
    value: {
      $typeName: "grpc.reflection.v1.FileDescriptorResponse",
      fileDescriptorProto: [...closure].map(({ proto }) =>
        toBinary(FileDescriptorProtoSchema, proto),
      ),
    },
  };
}

function errorResponse(errorCode: Code, errorMessage: string): Response {
  return {
    case: "errorResponse",
    value: { $typeName: "grpc.reflection.v1.ErrorResponse", errorCode, errorMessage },
  };
}
