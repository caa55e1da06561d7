import type { DescService } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import type { Call, Implementation } from "@scrip/rpc";

import { ownServices, publicServices } from "../src/public-services.ts";

type Stub = (request: never, call: Call) => Promise<unknown>;

/** A stand-in for a service behind the door: what is not given answers 501. */
export function standIn(
  service: DescService,
  handlers: Readonly<Record<string, Stub>> = {},
  otherwise: Stub = async () => {
    throw new ApiError("not_implemented");
  },
): Implementation {
  const all = service.methods.map(({ localName }) => [localName, handlers[localName] ?? otherwise]);
  return { service, handlers: Object.fromEntries(all) };
}

/** Everything behind the door, answering 501: who gets that far was let in. */
export const everything = (): readonly Implementation[] =>
  publicServices.filter((each) => !ownServices.includes(each)).map((each) => standIn(each));
