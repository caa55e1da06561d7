import type {
  Publication,
  PublicationService,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { customerIdentity, parsePublication } from "../publication/parse-request.ts";
import { publish } from "../publication/publish.ts";

export const createPublication =
  (deps: Deps): Handler<typeof PublicationService.method.createPublication> =>
  async (request, call) => {
    const input = await parsePublication(deps, request, call);
    const publication = await publish(deps, input, call);
    return call.caller.side === "client" ? forClientSide(publication) : publication;
  };

/** Client-side callers see only the customer's id and source id, no stored data. */
const forClientSide = (publication: Publication): Publication => ({
  ...publication,
  ...(publication.customer !== undefined && { customer: customerIdentity(publication.customer) }),
});
