import type { DescService } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import type { Call, Implementation } from "@scrip/rpc";

import { ownServices, publicServices } from "../src/public-services.ts";

type Stub = (request: never, call: Call) => Promise<unknown>;

/** A stub of a service; RPCs without a handler respond with not_implemented (501). */
export function stubService(
  service: DescService,
  handlers: Readonly<Record<string, Stub>> = {},
  otherwise: Stub = async () => {
    throw new ApiError("not_implemented");
  },
): Implementation {
  const all = service.methods.map(({ localName }) => [localName, handlers[localName] ?? otherwise]);
  return { service, handlers: Object.fromEntries(all) };
}

/** Stubs of all services: a 501 shows that the gateway passed the request on. */
export const stubAllServices = (): readonly Implementation[] =>
  publicServices.filter((each) => !ownServices.includes(each)).map((each) => stubService(each));
